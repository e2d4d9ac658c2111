"""Contexts, patches that hold for a while, and references to objects."""


__name__ = "contextlib"
"""Behaviour of `contextlib`."""


class nullcontext:
    def __init__(self, enter_result=None): self.enter_result = enter_result
    def __enter__(self): return self.enter_result
    def __exit__(self, *_): return None


class closing:
    def __init__(self, thing): self.thing = thing
    def __enter__(self): return self.thing
    def __exit__(self, *_): self.thing.close()


class ExitStack:
    def __init__(self): self._leaving = []
    def __enter__(self): return self

    def __exit__(self, kind, error, trace):
        swallowed = False
        while self._leaving:
            leave = self._leaving.pop()
            if leave(kind, error, trace):
                swallowed = True
                kind = error = trace = None
        return swallowed

    def enter_context(self, manager):
        value = manager.__enter__()
        self._leaving.append(manager.__exit__)
        return value

    def push(self, leave):
        if hasattr(leave, "__exit__"):
            self._leaving.append(leave.__exit__)
        else:
            self._leaving.append(leave)
        return leave

    def callback(self, function, /, *arguments, **keywords):
        def leave(kind, error, trace): function(*arguments, **keywords)

        self._leaving.append(leave)
        return function

    def pop_all(self):
        other = ExitStack()
        other._leaving = self._leaving
        self._leaving = []
        return other

    def close(self): self.__exit__(None, None, None)


__name__ = "contextvars"
"""Behaviour of `contextvars` in one context."""


class ContextVar:
    def __init__(self, name, *, default=None):
        self.name = name
        self._values = [default]

    def get(self, *default): return self._values[-1]

    def set(self, value):
        self._values.append(value)
        return value

    def reset(self, token): self._values.pop()


__name__ = "unittest.mock"
"""Behaviour of `unittest.mock` where a patch names its target. What a mock answers is not known."""

class DEFAULT: pass


class _Started:
    mocks = False

    def __enter__(self): return self.start()
    def __exit__(self, *_): self.stop()

    def __call__(self, target):
        if not isinstance(target, type):
            return self._around(target)
        for name in tests_of(target):
            setattr(target, name, self._around(getattr(target, name)))
        return target

    def _around(self, function):
        earlier = patchings_of(function)
        if earlier is not None:
            earlier.append(self)
            return function

        def patched(*arguments, **keywords):
            started = []
            try:
                for patching in patched.patchings:
                    new = patching.start()
                    started.append(patching)
                    if patching.mocks:
                        arguments = (*arguments, new)
                return function(*arguments, **keywords)
            finally:
                for patching in reversed(started):
                    patching.stop()

        patched.patchings = [self]
        patched.__wrapped__ = function
        return patched


class _Patch(_Started):
    def __init__(self, target, name, new, new_callable, described):
        self.target = target
        self.name = name
        self.new = new
        self.mocks = new is DEFAULT
        self.new_callable = new_callable
        self.described = described

    def start(self):
        target = self.target()
        new = self._mock() if self.mocks else self.new
        self.had = hasattr(target, self.name)
        self.before = getattr(target, self.name, None)
        setattr(target, self.name, new)
        return new

    def _mock(self):
        if self.new_callable is None:
            return MagicMock(**self.described)
        return self.new_callable(**self.described)

    def stop(self):
        target = self.target()
        if self.had:
            setattr(target, self.name, self.before)
        else:
            delattr(target, self.name)


class _PatchDict(_Started):
    def __init__(self, subject, values, clear, more):
        self.subject = subject
        self.values = {**dict(values), **more}
        self.clear = clear

    def start(self):
        self.before = self.subject.copy()
        if self.clear:
            self.subject.clear()
        self.subject.update(self.values)
        return self.subject

    def stop(self):
        self.subject.clear()
        self.subject.update(self.before)


def patch(target, *given, **options):
    owner, _, name = target.rpartition(".")
    return _patch(lambda: _named(owner), name, *given, **options)


def _named(name):
    try:
        return __import__(name)
    except ImportError:
        owner, _, name = name.rpartition(".")
        return getattr(_named(owner), name)


def patch_object(target, attribute, *given, **options):
    return _patch(lambda: target, attribute, *given, **options)


def _patch(
    target,
    name,
    new=DEFAULT,
    spec=None,
    create=False,
    spec_set=None,
    autospec=None,
    new_callable=None,
    *,
    unsafe=False,
    **described,
):
    return _Patch(target, name, new, new_callable, described)


def patch_dict(in_dict, values=(), clear=False, **keywords):
    return _PatchDict(in_dict, values, clear, keywords)


def patch_multiple(target, **changes):
    return _PatchAll([_Patch(lambda: target, name, new, None, {}) for name, new in changes.items()])


class _PatchAll(_Started):
    def __init__(self, patches): self.patches = patches

    def start(self):
        for patch in self.patches:
            patch.start()

    def stop(self):
        for patch in reversed(self.patches):
            patch.stop()


__name__ = "weakref"
"""Behaviour of `weakref` while its objects live."""


def proxy(subject, callback=None): return subject
def ref(subject, callback=None): return lambda: subject
def WeakMethod(method, callback=None): return lambda: method
