"""Changes by the framework's own start-up to a configuration: from written to what will run."""
