"""Stands in for a company's package, which the linter does not see."""
