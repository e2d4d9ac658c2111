"""Known releases, and the versions that a run is judged against."""
