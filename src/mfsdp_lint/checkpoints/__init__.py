"""Inspection of a checkpoint's folder, without torch and without unpickling anything."""
