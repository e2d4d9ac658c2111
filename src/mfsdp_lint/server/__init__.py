"""The language server: findings, fixes and facts about settings, in an editor. Needs the extra `lsp`."""
