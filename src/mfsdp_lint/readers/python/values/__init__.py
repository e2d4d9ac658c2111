"""What the evaluator computes with, and how large it may get."""
