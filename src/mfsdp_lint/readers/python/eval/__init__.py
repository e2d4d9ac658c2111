"""How each expression, statement and call is evaluated."""
