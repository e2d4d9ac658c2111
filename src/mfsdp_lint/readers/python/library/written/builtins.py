"""Methods that a class inherits from `dict`."""


class dict:
    def __init__(self, other=(), /, **keywords):
        entries = {}
        entries.update(other, **keywords)
        object.__setattr__(self, " entries", entries)

    def __getitem__(self, key):
        entries = object.__getattribute__(self, " entries")
        if key in entries:
            return entries[key]
        if hasattr(type(self), "__missing__"):
            return self.__missing__(key)
        raise KeyError(key)

    def __setitem__(self, key, value):
        object.__getattribute__(self, " entries")[key] = value

    def __delitem__(self, key):
        del object.__getattribute__(self, " entries")[key]

    def __contains__(self, key):
        return key in object.__getattribute__(self, " entries")

    def __iter__(self):
        return iter(object.__getattribute__(self, " entries"))

    def __len__(self):
        return len(object.__getattribute__(self, " entries"))

    def __eq__(self, other):
        return object.__getattribute__(self, " entries") == other

    def get(self, key, default=None):
        return object.__getattribute__(self, " entries").get(key, default)

    def keys(self):
        return object.__getattribute__(self, " entries").keys()

    def values(self):
        return object.__getattribute__(self, " entries").values()

    def items(self):
        return object.__getattribute__(self, " entries").items()

    def update(self, other=(), /, **keywords):
        object.__getattribute__(self, " entries").update(other, **keywords)

    def setdefault(self, key, default=None):
        return object.__getattribute__(self, " entries").setdefault(key, default)

    def pop(self, key, *default):
        return object.__getattribute__(self, " entries").pop(key, *default)

    def popitem(self):
        return object.__getattribute__(self, " entries").popitem()

    def clear(self):
        object.__getattribute__(self, " entries").clear()

    def copy(self):
        return object.__getattribute__(self, " entries").copy()


class names_of:
    """The result of `globals()`: the names of a module."""

    def __init__(self, module):
        self.module = module

    def __getitem__(self, name):
        if hasattr(self.module, name):
            return getattr(self.module, name)
        raise KeyError(name)

    def __setitem__(self, name, value):
        setattr(self.module, name, value)

    def __contains__(self, name):
        return hasattr(self.module, name)

    def get(self, name, default=None):
        return getattr(self.module, name, default)

    def update(self, other=(), /, **keywords):
        for name, value in dict(other, **keywords).items():
            setattr(self.module, name, value)

    def setdefault(self, name, default=None):
        if not hasattr(self.module, name):
            setattr(self.module, name, default)
        return getattr(self.module, name)
