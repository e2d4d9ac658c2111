"""Behaviour of `collections`."""


class ChainMap:
    def __init__(self, *maps):
        self.maps = list(maps) or [{}]

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

    def __setitem__(self, key, value):
        self.maps[0][key] = value

    def __delitem__(self, key):
        del self.maps[0][key]

    def __contains__(self, key):
        return any([key in mapping for mapping in self.maps])

    def __iter__(self):
        return iter(self._merged())

    def __len__(self):
        return len(self._merged())

    def __bool__(self):
        return any([bool(mapping) for mapping in self.maps])

    def get(self, key, default=None):
        return self[key] if key in self else default

    def keys(self):
        return self._merged().keys()

    def values(self):
        return self._merged().values()

    def items(self):
        return self._merged().items()

    def pop(self, key, *default):
        return self.maps[0].pop(key, *default)

    def setdefault(self, key, default=None):
        if key in self:
            return self[key]
        self[key] = default
        return default

    def update(self, other=(), /, **keywords):
        self.maps[0].update(other, **keywords)

    def copy(self):
        return ChainMap(self.maps[0].copy(), *self.maps[1:])

    def new_child(self, m=None, **keywords):
        m = {} if m is None else m
        m.update(keywords)
        return ChainMap(m, *self.maps)

    @property
    def parents(self):
        return ChainMap(*self.maps[1:])


class UserDict:
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

    def __setitem__(self, key, value):
        self.data[key] = value

    def __delitem__(self, key):
        del self.data[key]

    def __contains__(self, key):
        return key in self.data

    def __iter__(self):
        return iter(self.data)

    def __len__(self):
        return len(self.data)

    def get(self, key, default=None):
        return self[key] if key in self else default

    def keys(self):
        return self.data.keys()

    def values(self):
        return [self[key] for key in self]

    def items(self):
        return [(key, self[key]) for key in self]

    def update(self, other=(), /, **keywords):
        for key, value in dict(other, **keywords).items():
            self[key] = value

    def setdefault(self, key, default=None):
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key, *default):
        if key not in self.data and default:
            return default[0]
        value = self[key]
        del self[key]
        return value


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

    def pop(self):
        return self._items.pop()

    def popleft(self):
        return self._items.pop(0)

    def remove(self, item):
        self._items.remove(item)

    def insert(self, place, item):
        self._items.insert(place, item)

    def count(self, item):
        return self._items.count(item)

    def index(self, item):
        return self._items.index(item)

    def clear(self):
        self._items.clear()

    def copy(self):
        return deque(self._items, self.maxlen)

    def reverse(self):
        self._items.reverse()

    def rotate(self, n=1):
        if self._items:
            n %= len(self._items)
            self._items = self._items[len(self._items) - n :] + self._items[: len(self._items) - n]

    def __getitem__(self, place):
        return self._items[place]

    def __setitem__(self, place, item):
        self._items[place] = item

    def __delitem__(self, place):
        del self._items[place]

    def __contains__(self, item):
        return item in self._items

    def __iter__(self):
        return iter(self._items)

    def __reversed__(self):
        return iter(self._items[::-1])

    def __len__(self):
        return len(self._items)

    def __bool__(self):
        return bool(self._items)

    def __eq__(self, other):
        return isinstance(other, deque) and self._items == other._items
