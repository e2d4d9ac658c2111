"""The recipes that dry_run_verdicts.py has tried."""
