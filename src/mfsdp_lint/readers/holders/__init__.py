"""Files that hold scripts, or command lines, with their environment. A module a kind of file."""
