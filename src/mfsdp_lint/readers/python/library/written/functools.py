"""Behaviour of `functools`."""


def singledispatch(function):
    return _Dispatcher(function)


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

    def dispatch(self, cls):
        return nearest(cls, self.table, self.default)

    def __call__(self, /, *arguments, **keywords):
        return self.dispatch(type(arguments[0]))(*arguments, **keywords)


class singledispatchmethod:
    def __init__(self, function):
        self.dispatcher = _Dispatcher(function)

    def register(self, cls, func=None):
        return self.dispatcher.register(cls, func)

    def __get__(self, owner, cls=None):
        def call(*arguments, **keywords):
            return self.dispatcher.dispatch(type(arguments[0]))(owner, *arguments, **keywords)

        return call


def cmp_to_key(compare):
    class Key:
        def __init__(self, value):
            self.value = value

        def __lt__(self, other):
            return compare(self.value, other.value) < 0

        def __gt__(self, other):
            return compare(self.value, other.value) > 0

        def __eq__(self, other):
            return compare(self.value, other.value) == 0

    return Key


def update_wrapper(wrapper, wrapped, assigned=(), updated=()):
    return wrapper
