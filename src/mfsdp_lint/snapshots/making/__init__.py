"""Makes a snapshot of a release out of its source."""
