"""Projects in which two parties use one text, of which a fix may serve only one."""
