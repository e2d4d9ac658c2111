"""Functions that call functions, and iterators."""


__name__ = "functools"
"""Behaviour of `functools`."""


def singledispatch(function): return _Dispatcher(function)


class _Dispatcher:
    def __init__(self, function):
        self.default = function
        self.table = []

    def register(self, cls, func=None):
        if func is None:
            if callable(cls) and not isinstance(cls, type):
                for annotation in parameter_types(cls):
                    self.table.append((annotation, cls))
                return cls
            return lambda function: self.register(cls, function)
        self.table.append((cls, func))
        return func

    def dispatch(self, cls): return nearest(cls, self.table, self.default)

    def __call__(self, /, *arguments, **keywords):
        return self.dispatch(type(arguments[0]))(*arguments, **keywords)


class singledispatchmethod:
    def __init__(self, function): self.dispatcher = _Dispatcher(function)
    def register(self, cls, func=None): return self.dispatcher.register(cls, func)

    def __get__(self, owner, cls=None):
        def call(*arguments, **keywords):
            return self.dispatcher.dispatch(type(arguments[0]))(owner, *arguments, **keywords)

        return call


def cmp_to_key(compare):
    class Key:
        def __init__(self, value): self.value = value
        def __lt__(self, other): return compare(self.value, other.value) < 0
        def __gt__(self, other): return compare(self.value, other.value) > 0
        def __eq__(self, other): return compare(self.value, other.value) == 0

    return Key


__name__ = "itertools"
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


def batched(iterable, n):
    items = list(iterable)
    for place in range(0, len(items), n):
        yield tuple(items[place : place + n])


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

    def __iter__(self): return self

    def __next__(self):
        place = self.place
        self.place = place + self.step
        return place


class cycle:
    def __init__(self, iterable):
        self.items = list(iterable)
        self.place = 0

    def __iter__(self): return self

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

    def __iter__(self): return self

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


__name__ = "operator"
"""Behaviour of `operator`."""


def itemgetter(*keys):
    def read(subject):
        found = tuple([subject[key] for key in keys])
        return found[0] if len(keys) == 1 else found

    return read


def attrgetter(*names):
    def walk(subject, name):
        for part in name.split("."):
            subject = getattr(subject, part)
        return subject

    def read(subject):
        found = tuple([walk(subject, name) for name in names])
        return found[0] if len(names) == 1 else found

    return read


def methodcaller(name, /, *arguments, **keywords):
    return lambda subject: getattr(subject, name)(*arguments, **keywords)


def setitem(a, b, c): a[b] = c
def delitem(a, b): del a[b]
def getitem(a, b): return a[b]
def contains(a, b): return b in a
def call(function, /, *arguments, **keywords): return function(*arguments, **keywords)
def concat(a, b): return a + b
def add(a, b): return a + b
def sub(a, b): return a - b
def mul(a, b): return a * b
def truediv(a, b): return a / b
def floordiv(a, b): return a // b
def mod(a, b): return a % b
def pow(a, b): return a**b
def lshift(a, b): return a << b
def rshift(a, b): return a >> b
def or_(a, b): return a | b
def and_(a, b): return a & b
def xor(a, b): return a ^ b
def neg(a): return -a
def pos(a): return +a
def inv(a): return ~a
invert = inv
def abs(a): return a if a >= 0 else -a
def index(a): return a
def truth(a): return bool(a)
def not_(a): return not a
def is_(a, b): return a is b
def is_not(a, b): return a is not b
def eq(a, b): return a == b
def ne(a, b): return a != b
def lt(a, b): return a < b
def le(a, b): return a <= b
def gt(a, b): return a > b
def ge(a, b): return a >= b
def iadd(a, b): a += b; return a
iconcat = iadd
def isub(a, b): a -= b; return a
def imul(a, b): a *= b; return a
def ior(a, b): a |= b; return a
def iand(a, b): a &= b; return a
def ixor(a, b): a ^= b; return a
def itruediv(a, b): a /= b; return a
def ifloordiv(a, b): a //= b; return a
def countOf(a, b): return sum([1 for item in a if item is b or item == b])


def indexOf(a, b):
    for place, item in enumerate(a):
        if item is b or item == b:
            return place
    raise ValueError("sequence.index(x): x not in sequence")


__name__ = "tqdm"
"""Effect of `tqdm` on the program: it hands on the elements."""


class tqdm:
    def __init__(self, iterable=None, *_, **__): self.iterable = iterable
    def __iter__(self): yield from self.iterable
    def __len__(self): return len(self.iterable)
    def __enter__(self): return self
    def __exit__(self, *_): return None
    def update(self, n=1): return None
    def close(self): return None
    def set_description(self, desc=None, refresh=True): return None
    def set_postfix(self, ordered_dict=None, refresh=True, **_): return None


def trange(*arguments, **_): return tqdm(range(*arguments))
