"""Files that embed scripts, or command lines, with their environment; `read.py` has the table of those in YAML."""
