"""Commands, a module each: `SUMMARY`, `add_arguments(parser)` and `main(arguments) -> exit code`."""
