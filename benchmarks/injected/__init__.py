"""Pitfalls written into users' files on top of upstream recipes: what, into which, how, and what a fix comes to."""
