"""What `types` does."""


class SimpleNamespace:
    def __init__(self, mapping=(), /, **names):
        for name, value in dict(mapping, **names).items():
            setattr(self, name, value)

    def __eq__(self, other):
        return isinstance(other, SimpleNamespace) and vars(self) == vars(other)
