"""Objects of single classes."""


__name__ = "types"
"""Behaviour of `types`."""


class SimpleNamespace:
    def __eq__(self, other): return isinstance(other, SimpleNamespace) and vars(self) == vars(other)


__name__ = "typing"
"""Behaviour of objects of a `NamedTuple`; their fields are filled in like those of a dataclass."""


from dataclasses import fields


class NamedTuple:
    @property
    def _fields(self): return tuple([field.name for field in fields(self)])

    def _values(self): return tuple([getattr(self, field.name) for field in fields(self)])
    def _replace(self, **changes): return type(self)(**{**self._asdict(), **changes})
    def _asdict(self): return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def _make(cls, values): return cls(*values)

    def __iter__(self): return iter(self._values())
    def __getitem__(self, place): return self._values()[place]
    def __len__(self): return len(self._values())
    def __contains__(self, item): return item in self._values()
    def __eq__(self, other): return self._values() == tuple(other)
    def __lt__(self, other): return self._values() < tuple(other)
    def __add__(self, other): return self._values() + tuple(other)
    def index(self, item): return self._values().index(item)
    def count(self, item): return self._values().count(item)
