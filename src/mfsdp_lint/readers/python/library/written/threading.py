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

    def join(self, timeout=None):
        return None

    def is_alive(self):
        return False
