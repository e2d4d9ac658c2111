"""What a run is given: options, paths, addresses, the texts of files, and the comments that silence findings."""
