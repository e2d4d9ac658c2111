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


def setitem(a, b, c):
    a[b] = c


def delitem(a, b):
    del a[b]


def getitem(a, b):
    return a[b]


def contains(a, b):
    return b in a


def call(function, /, *arguments, **keywords):
    return function(*arguments, **keywords)


def concat(a, b):
    return a + b


def add(a, b):
    return a + b


def sub(a, b):
    return a - b


def mul(a, b):
    return a * b


def truediv(a, b):
    return a / b


def floordiv(a, b):
    return a // b


def mod(a, b):
    return a % b


def pow(a, b):
    return a**b


def lshift(a, b):
    return a << b


def rshift(a, b):
    return a >> b


def or_(a, b):
    return a | b


def and_(a, b):
    return a & b


def xor(a, b):
    return a ^ b


def neg(a):
    return -a


def pos(a):
    return +a


def inv(a):
    return ~a


invert = inv


def abs(a):
    return a if a >= 0 else -a


def index(a):
    return a


def truth(a):
    return bool(a)


def not_(a):
    return not a


def is_(a, b):
    return a is b


def is_not(a, b):
    return a is not b


def eq(a, b):
    return a == b


def ne(a, b):
    return a != b


def lt(a, b):
    return a < b


def le(a, b):
    return a <= b


def gt(a, b):
    return a > b


def ge(a, b):
    return a >= b


def iadd(a, b):
    a += b
    return a


iconcat = iadd


def isub(a, b):
    a -= b
    return a


def imul(a, b):
    a *= b
    return a


def ior(a, b):
    a |= b
    return a


def iand(a, b):
    a &= b
    return a


def ixor(a, b):
    a ^= b
    return a


def itruediv(a, b):
    a /= b
    return a


def ifloordiv(a, b):
    a //= b
    return a


def countOf(a, b):
    return sum([1 for item in a if item is b or item == b])


def indexOf(a, b):
    for place, item in enumerate(a):
        if item is b or item == b:
            return place
    raise ValueError("sequence.index(x): x not in sequence")
