"""Conditions over the settings of a recipe, in three-valued logic, and for which versions they hold."""
