"""Generators of data and pages. They are for the checkout; the wheel goes without them."""
