"""Behaviour of `contextlib`."""


class nullcontext:
    def __init__(self, enter_result=None):
        self.enter_result = enter_result

    def __enter__(self):
        return self.enter_result

    def __exit__(self, *_):
        return None


class closing:
    def __init__(self, thing):
        self.thing = thing

    def __enter__(self):
        return self.thing

    def __exit__(self, *_):
        self.thing.close()


class ExitStack:
    def __init__(self):
        self._leaving = []

    def __enter__(self):
        return self

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
        def leave(kind, error, trace):
            function(*arguments, **keywords)

        self._leaving.append(leave)
        return function

    def pop_all(self):
        other = ExitStack()
        other._leaving = self._leaving
        self._leaving = []
        return other

    def close(self):
        self.__exit__(None, None, None)
