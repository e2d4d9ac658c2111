"""What `itertools` does."""


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
