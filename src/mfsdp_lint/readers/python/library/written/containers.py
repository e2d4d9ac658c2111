"""Containers: methods of classes that the program derives from `dict` and the abstract containers, and `collections`."""


__name__ = "builtins"
"""Methods that a class inherits from `dict`."""

from collections.abc import MutableMapping


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

    def __setitem__(self, key, value): object.__getattribute__(self, " entries")[key] = value
    def __delitem__(self, key): del object.__getattribute__(self, " entries")[key]
    def __contains__(self, key): return key in object.__getattribute__(self, " entries")
    def __iter__(self): return iter(object.__getattribute__(self, " entries"))
    def __len__(self): return len(object.__getattribute__(self, " entries"))
    def __eq__(self, other): return object.__getattribute__(self, " entries") == other
    def get(self, key, default=None): return object.__getattribute__(self, " entries").get(key, default)
    def keys(self): return object.__getattribute__(self, " entries").keys()
    def values(self): return object.__getattribute__(self, " entries").values()
    def items(self): return object.__getattribute__(self, " entries").items()

    def update(self, other=(), /, **keywords):
        object.__getattribute__(self, " entries").update(other, **keywords)

    def setdefault(self, key, default=None):
        return object.__getattribute__(self, " entries").setdefault(key, default)

    def pop(self, key, *default): return object.__getattribute__(self, " entries").pop(key, *default)
    def popitem(self): return object.__getattribute__(self, " entries").popitem()
    def clear(self): object.__getattribute__(self, " entries").clear()
    def copy(self): return object.__getattribute__(self, " entries").copy()


class names_of(MutableMapping):
    """The result of `globals()`: the names of a module."""

    def __init__(self, module): self.module = module

    def __getitem__(self, name):
        if hasattr(self.module, name):
            return getattr(self.module, name)
        raise KeyError(name)

    def __setitem__(self, name, value): setattr(self.module, name, value)
    def __contains__(self, name): return hasattr(self.module, name)
    def get(self, name, default=None): return getattr(self.module, name, default)
    def __iter__(self): return iter(names_in(self.module))
    def keys(self): return {name for name in names_in(self.module)}
    def values(self): return [getattr(self.module, name, None) for name in names_in(self.module)]
    def items(self): return [(name, getattr(self.module, name, None)) for name in names_in(self.module)]
    def copy(self): return dict(self.items())


__name__ = "collections.abc"
"""Methods that classes inherit from the abstract containers of `collections.abc`."""


class Mapping:
    def get(self, key, default=None):
        try:
            return self[key]
        except KeyError:
            return default

    def __contains__(self, key):
        try:
            self[key]
        except KeyError:
            return False
        return True

    def keys(self): return [key for key in self]
    def items(self): return [(key, self[key]) for key in self]
    def values(self): return [self[key] for key in self]
    def __eq__(self, other): return dict(self.items()) == dict(other.items())


class MutableMapping(Mapping):
    def pop(self, key, *default):
        try:
            value = self[key]
        except KeyError:
            if default:
                return default[0]
            raise
        del self[key]
        return value

    def popitem(self):
        for key in self:
            value = self[key]
            del self[key]
            return (key, value)
        raise KeyError("popitem(): mapping is empty")

    def clear(self):
        for key in [key for key in self]:
            del self[key]

    def update(self, other=(), /, **keywords):
        for key, value in dict(other).items():
            self[key] = value
        for key, value in keywords.items():
            self[key] = value

    def setdefault(self, key, default=None):
        try:
            return self[key]
        except KeyError:
            self[key] = default
        return default


class Sequence:
    def __iter__(self): return iter([self[place] for place in range(len(self))])
    def __contains__(self, item): return any([each is item or each == item for each in self])
    def __reversed__(self): return iter([self[place] for place in reversed(range(len(self)))])

    def index(self, item, start=0, stop=None):
        for place in range(start, len(self) if stop is None else min(stop, len(self))):
            if self[place] is item or self[place] == item:
                return place
        raise ValueError(item)

    def count(self, item): return sum([1 for each in self if each is item or each == item])


class MutableSequence(Sequence):
    def append(self, item): self.insert(len(self), item)

    def clear(self):
        while len(self):
            self.pop()

    def reverse(self):
        items = [each for each in self]
        for place in range(len(items)):
            self[place] = items[-1 - place]

    def extend(self, items):
        for item in list(items):
            self.append(item)

    def pop(self, place=-1):
        item = self[place]
        del self[place]
        return item

    def remove(self, item): del self[self.index(item)]

    def __iadd__(self, items):
        self.extend(items)
        return self


class Set:
    def __le__(self, other): return all([each in other for each in self])
    def __lt__(self, other): return len(self) < len(other) and self <= other
    def __ge__(self, other): return all([each in self for each in other])
    def __gt__(self, other): return len(self) > len(other) and self >= other
    def __eq__(self, other): return len(self) == len(other) and self <= other
    def isdisjoint(self, other): return not any([each in self for each in other])

    @classmethod
    def _from_iterable(cls, items): return cls(items)

    def __and__(self, other): return self._from_iterable([each for each in other if each in self])
    def __or__(self, other): return self._from_iterable([each for each in self] + [each for each in other])
    def __sub__(self, other): return self._from_iterable([each for each in self if each not in other])
    def __xor__(self, other): return (self - other) | (self._from_iterable(other) - self)


class MutableSet(Set):
    def remove(self, item):
        if item not in self:
            raise KeyError(item)
        self.discard(item)

    def pop(self):
        for item in self:
            self.discard(item)
            return item
        raise KeyError("pop from an empty set")

    def clear(self):
        for item in [each for each in self]:
            self.discard(item)

    def __ior__(self, items):
        for item in items:
            self.add(item)
        return self

    def __iand__(self, items):
        for item in self - items:
            self.discard(item)
        return self

    def __isub__(self, items):
        for item in [each for each in items]:
            self.discard(item)
        return self

    def __ixor__(self, items):
        for item in [each for each in items]:
            if item in self:
                self.discard(item)
            else:
                self.add(item)
        return self


__name__ = "collections"
"""Behaviour of `collections`."""

from collections.abc import MutableMapping


class ChainMap(MutableMapping):
    def __init__(self, *maps): self.maps = list(maps) or [{}]

    def _merged(self):
        merged = {}
        for mapping in reversed(self.maps):
            merged.update(mapping)
        return merged

    def __getitem__(self, key):
        for mapping in self.maps:
            if key in mapping:
                return mapping[key]
        raise KeyError(key)

    def __setitem__(self, key, value): self.maps[0][key] = value
    def __delitem__(self, key): del self.maps[0][key]
    def __contains__(self, key): return any([key in mapping for mapping in self.maps])
    def __iter__(self): return iter(self._merged())
    def __len__(self): return len(self._merged())
    def __bool__(self): return any([bool(mapping) for mapping in self.maps])
    def keys(self): return self._merged().keys()
    def pop(self, key, *default): return self.maps[0].pop(key, *default)
    def copy(self): return ChainMap(self.maps[0].copy(), *self.maps[1:])

    def new_child(self, m=None, **keywords):
        m = {} if m is None else m
        m.update(keywords)
        return ChainMap(m, *self.maps)

    @property
    def parents(self): return ChainMap(*self.maps[1:])


class UserDict(MutableMapping):
    def __init__(self, other=None, /, **keywords):
        self.data = {}
        if other is not None:
            self.update(other)
        if keywords:
            self.update(keywords)

    def __getitem__(self, key):
        if key in self.data:
            return self.data[key]
        if hasattr(self, "__missing__"):
            return self.__missing__(key)
        raise KeyError(key)

    def __setitem__(self, key, value): self.data[key] = value
    def __delitem__(self, key): del self.data[key]
    def __contains__(self, key): return key in self.data
    def __iter__(self): return iter(self.data)
    def __len__(self): return len(self.data)
    def get(self, key, default=None): return self[key] if key in self else default


class deque:
    def __init__(self, iterable=(), maxlen=None):
        self.maxlen = maxlen
        self._items = []
        self.extend(iterable)

    def append(self, item):
        self._items.append(item)
        if self.maxlen is not None and len(self._items) > self.maxlen:
            self._items.pop(0)

    def appendleft(self, item):
        self._items.insert(0, item)
        if self.maxlen is not None and len(self._items) > self.maxlen:
            self._items.pop()

    def extend(self, iterable):
        for item in list(iterable):
            self.append(item)

    def extendleft(self, iterable):
        for item in list(iterable):
            self.appendleft(item)

    def pop(self): return self._items.pop()
    def popleft(self): return self._items.pop(0)
    def remove(self, item): self._items.remove(item)
    def insert(self, place, item): self._items.insert(place, item)
    def count(self, item): return self._items.count(item)
    def index(self, item): return self._items.index(item)
    def clear(self): self._items.clear()
    def copy(self): return deque(self._items, self.maxlen)
    def reverse(self): self._items.reverse()

    def rotate(self, n=1):
        if self._items:
            n %= len(self._items)
            self._items = self._items[len(self._items) - n :] + self._items[: len(self._items) - n]

    def __getitem__(self, place): return self._items[place]
    def __setitem__(self, place, item): self._items[place] = item
    def __delitem__(self, place): del self._items[place]
    def __contains__(self, item): return item in self._items
    def __iter__(self): return iter(self._items)
    def __reversed__(self): return iter(self._items[::-1])
    def __len__(self): return len(self._items)
    def __bool__(self): return bool(self._items)
    def __eq__(self, other): return isinstance(other, deque) and self._items == other._items
