"""What is known of an upstream release without its source."""
