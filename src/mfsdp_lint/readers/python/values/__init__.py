"""Values that the evaluator computes with, and limits of their size."""
