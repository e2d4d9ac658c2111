"""The language server: what the tool finds and knows, in an editor. Needs the extra `lsp`."""
