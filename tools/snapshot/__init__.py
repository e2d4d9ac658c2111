"""A snapshot of a release: what upstream's source offers, as the data that mfsdp_lint.snapshots reads."""
