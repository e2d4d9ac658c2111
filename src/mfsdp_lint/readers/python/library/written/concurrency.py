"""Work in threads, which is done before anybody looks."""


__name__ = "threading"
"""Behaviour of `threading`, where a thread is done before anybody looks: it runs when it is started."""


class Thread:
    def __init__(self, group=None, target=None, name=None, args=(), kwargs=None, *, daemon=None):
        self._target = target
        self._args = args
        self._kwargs = {} if kwargs is None else kwargs
        self.name = name
        self.daemon = daemon

    def run(self):
        if self._target is not None:
            self._target(*self._args, **self._kwargs)

    def start(self):
        try:
            self.run()
        except Exception:
            pass

    def join(self, timeout=None): return None
    def is_alive(self): return False


__name__ = "concurrent.futures"
"""Behaviour of `concurrent.futures` with threads: each call is done when it is submitted."""


class Future:
    def __init__(self, function, arguments, keywords):
        self._error = None
        self._value = None
        try:
            self._value = function(*arguments, **keywords)
        except Exception as error:
            self._error = error

    def result(self, timeout=None):
        if self._error is not None:
            raise self._error
        return self._value

    def exception(self, timeout=None): return self._error
    def done(self): return True
    def add_done_callback(self, function): function(self)


class ThreadPoolExecutor:
    def __init__(self, max_workers=None, thread_name_prefix="", initializer=None, initargs=()):
        if initializer is not None:
            initializer(*initargs)

    def __enter__(self): return self
    def __exit__(self, *_): return False
    def submit(self, function, /, *arguments, **keywords): return Future(function, arguments, keywords)

    def map(self, function, *iterables, timeout=None, chunksize=1):
        return iter([function(*row) for row in zip(*iterables)])

    def shutdown(self, wait=True, *, cancel_futures=False): return None


def as_completed(futures, timeout=None): return iter(futures)
