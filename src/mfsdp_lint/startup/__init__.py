"""What the framework's own start-up makes of a configuration: from written to what will run."""
