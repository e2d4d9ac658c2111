"""The inputs of a run: options, paths, addresses, the texts of files, and the comments that silence findings."""
