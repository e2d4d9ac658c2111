"""Shell scripts: `run.py` follows one statement by statement and finds what it launches; nothing is executed."""
