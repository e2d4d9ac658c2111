"""Behaviour of `types`."""


class SimpleNamespace:
    def __eq__(self, other):
        return isinstance(other, SimpleNamespace) and vars(self) == vars(other)
