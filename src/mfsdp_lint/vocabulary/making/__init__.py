"""How the generated facts of the vocabulary are read from upstream source. Nothing is imported or run."""
