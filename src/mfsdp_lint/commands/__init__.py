"""One module a command: `SUMMARY`, `add_arguments(parser)` and `main(arguments) -> exit code`."""
