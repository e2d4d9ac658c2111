"""Which releases exist, and the versions that a run is judged against."""
