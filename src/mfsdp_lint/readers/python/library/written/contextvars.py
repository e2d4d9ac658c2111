"""Behaviour of `contextvars` in one context."""


class ContextVar:
    def __init__(self, name, *, default=None):
        self.name = name
        self._values = [default]

    def get(self, *default):
        return self._values[-1]

    def set(self, value):
        self._values.append(value)
        return value

    def reset(self, token):
        self._values.pop()
