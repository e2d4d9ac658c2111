"""Behaviour of `itertools`."""


def starmap(function, iterable):
    for arguments in iterable:
        yield function(*arguments)


def chain_from_iterable(iterables):
    for iterable in iterables:
        yield from iterable


def accumulate(iterable, func=None, *, initial=None):
    total = initial
    begun = initial is not None
    if begun:
        yield total
    for item in iterable:
        if not begun:
            total = item
            begun = True
        elif func is None:
            total = total + item
        else:
            total = func(total, item)
        yield total


def filterfalse(predicate, iterable):
    for item in iterable:
        if not (item if predicate is None else predicate(item)):
            yield item


def takewhile(predicate, iterable):
    for item in iterable:
        if not predicate(item):
            break
        yield item


def dropwhile(predicate, iterable):
    dropping = True
    for item in iterable:
        if dropping and predicate(item):
            continue
        dropping = False
        yield item


def compress(data, selectors):
    for item, kept in zip(data, selectors):
        if kept:
            yield item


def pairwise(iterable):
    items = list(iterable)
    for place in range(len(items) - 1):
        yield (items[place], items[place + 1])


def batched(iterable, n):
    items = list(iterable)
    for place in range(0, len(items), n):
        yield tuple(items[place : place + n])


def permutations(iterable, r=None):
    items = tuple(iterable)
    return iter(_permutations(items, len(items) if r is None else r))


def _permutations(items, count):
    if count == 0:
        return [()]
    if count > len(items):
        return []
    found = []
    for place in range(len(items)):
        for rest in _permutations(items[:place] + items[place + 1 :], count - 1):
            found.append((items[place], *rest))
    return found


def combinations(iterable, r):
    return iter(_combinations(tuple(iterable), r))


def _combinations(items, count):
    if count == 0:
        return [()]
    found = []
    for place in range(len(items) - count + 1):
        for rest in _combinations(items[place + 1 :], count - 1):
            found.append((items[place], *rest))
    return found


def combinations_with_replacement(iterable, r):
    return iter(_with_replacement(tuple(iterable), r))


def _with_replacement(items, count):
    if count == 0:
        return [()]
    found = []
    for place in range(len(items)):
        for rest in _with_replacement(items[place:], count - 1):
            found.append((items[place], *rest))
    return found


def groupby(iterable, key=None):
    groups = []
    for item in iterable:
        label = item if key is None else key(item)
        if groups and groups[-1][0] == label:
            groups[-1][1].append(item)
        else:
            groups.append((label, [item]))
    return iter([(label, iter(items)) for label, items in groups])


def tee(iterable, n=2):
    items = list(iterable)
    return tuple([iter(items) for _ in range(n)])


class count:
    def __init__(self, start=0, step=1):
        self.place = start
        self.step = step

    def __iter__(self):
        return self

    def __next__(self):
        place = self.place
        self.place = place + self.step
        return place


class cycle:
    def __init__(self, iterable):
        self.items = list(iterable)
        self.place = 0

    def __iter__(self):
        return self

    def __next__(self):
        if not self.items:
            raise StopIteration
        item = self.items[self.place]
        self.place = (self.place + 1) % len(self.items)
        return item


class repeat:
    def __init__(self, object, times=None):
        self.item = object
        self.times = times

    def __iter__(self):
        return self

    def __next__(self):
        if self.times is not None:
            if self.times <= 0:
                raise StopIteration
            self.times = self.times - 1
        return self.item


def islice(iterable, *limits):
    start, stop, step = 0, limits[0], 1
    if len(limits) > 1:
        start, stop = limits[0] or 0, limits[1]
    if len(limits) > 2:
        step = limits[2] or 1
    place = 0
    if stop is None or stop > 0:
        for item in iterable:
            if place >= start and (place - start) % step == 0:
                yield item
            place += 1
            if stop is not None and place >= stop:
                break
