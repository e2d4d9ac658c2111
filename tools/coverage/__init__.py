"""Upstream's own checks that the rules cover, and the reasons why the others are not covered: docs/coverage.md."""
