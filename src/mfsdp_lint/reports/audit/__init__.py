"""The effective configuration of every recipe, one module a format; each `render` is a plain function of recipes."""
