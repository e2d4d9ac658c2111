"""The state of one evaluation, and the modules that it reads."""
