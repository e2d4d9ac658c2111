"""YAML files: `read.py` has the table of the shapes that are known, one module a shape."""
