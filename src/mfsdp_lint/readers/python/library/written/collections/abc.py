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

    def keys(self):
        return [key for key in self]

    def items(self):
        return [(key, self[key]) for key in self]

    def values(self):
        return [self[key] for key in self]

    def __eq__(self, other):
        return dict(self.items()) == dict(other.items())


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
    def __iter__(self):
        return iter([self[place] for place in range(len(self))])

    def __contains__(self, item):
        return any([each is item or each == item for each in self])

    def __reversed__(self):
        return iter([self[place] for place in reversed(range(len(self)))])

    def index(self, item, start=0, stop=None):
        for place in range(start, len(self) if stop is None else min(stop, len(self))):
            if self[place] is item or self[place] == item:
                return place
        raise ValueError(item)

    def count(self, item):
        return sum([1 for each in self if each is item or each == item])


class MutableSequence(Sequence):
    def append(self, item):
        self.insert(len(self), item)

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

    def remove(self, item):
        del self[self.index(item)]

    def __iadd__(self, items):
        self.extend(items)
        return self


class Set:
    def __le__(self, other):
        return all([each in other for each in self])

    def __lt__(self, other):
        return len(self) < len(other) and self <= other

    def __ge__(self, other):
        return all([each in self for each in other])

    def __gt__(self, other):
        return len(self) > len(other) and self >= other

    def __eq__(self, other):
        return len(self) == len(other) and self <= other

    def isdisjoint(self, other):
        return not any([each in self for each in other])

    @classmethod
    def _from_iterable(cls, items):
        return cls(items)

    def __and__(self, other):
        return self._from_iterable([each for each in other if each in self])

    def __or__(self, other):
        return self._from_iterable([each for each in self] + [each for each in other])

    def __sub__(self, other):
        return self._from_iterable([each for each in self if each not in other])

    def __xor__(self, other):
        return (self - other) | (self._from_iterable(other) - self)


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
