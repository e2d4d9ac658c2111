"""Which of upstream's own checks the rules cover, and why the others are not covered: docs/coverage.md."""
