"""Judges a configuration with no file behind it."""
