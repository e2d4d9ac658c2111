"""The idioms themselves are no tests, even those that show how users write theirs."""

collect_ignore_glob = ["*/*"]
