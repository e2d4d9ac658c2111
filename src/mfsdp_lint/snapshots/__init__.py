"""Knowledge of an upstream release without its source."""
