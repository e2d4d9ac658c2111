"""Behaviour of `unittest.mock` where a patch names its target and its replacement."""


class _Patch:
    def __init__(self, target, name, new):
        self.target = target
        self.name = name
        self.new = new

    def start(self):
        self.had = hasattr(self.target, self.name)
        self.before = getattr(self.target, self.name, None)
        setattr(self.target, self.name, self.new)
        return self.new

    def stop(self):
        if self.had:
            setattr(self.target, self.name, self.before)
        else:
            delattr(self.target, self.name)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

    def __call__(self, function):
        def patched(*arguments, **keywords):
            with self:
                return function(*arguments, **keywords)

        return patched


class _PatchDict:
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

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

    def __call__(self, function):
        def patched(*arguments, **keywords):
            with self:
                return function(*arguments, **keywords)

        return patched


def patch(target, new, **keywords):
    owner, _, name = target.rpartition(".")
    return _Patch(_named(owner), name, new)


def _named(name):
    try:
        return __import__(name)
    except ImportError:
        owner, _, name = name.rpartition(".")
        return getattr(_named(owner), name)


def patch_object(target, attribute, new, **keywords):
    return _Patch(target, attribute, new)


def patch_dict(in_dict, values=(), clear=False, **keywords):
    return _PatchDict(in_dict, values, clear, keywords)


def patch_multiple(target, **changes):
    return _PatchAll([_Patch(target, name, new) for name, new in changes.items()])


class _PatchAll:
    def __init__(self, patches):
        self.patches = patches

    def start(self):
        for patch in self.patches:
            patch.start()

    def stop(self):
        for patch in reversed(self.patches):
            patch.stop()

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()
