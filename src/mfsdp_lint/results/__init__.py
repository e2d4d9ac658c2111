"""What reports print of a run."""
