"""From the evaluator's objects to the settings of a recipe."""
