"""Behaviour of `queue` in one thread."""


class Queue:
    def __init__(self, maxsize=0):
        self._items = []

    def put(self, item, block=True, timeout=None):
        self._items.append(item)

    def get(self, block=True, timeout=None):
        return self._items.pop(0)

    def put_nowait(self, item):
        self.put(item)

    def get_nowait(self):
        return self.get()

    def empty(self):
        return not self._items

    def qsize(self):
        return len(self._items)

    def task_done(self):
        return None

    def join(self):
        return None


class SimpleQueue(Queue):
    pass


class LifoQueue(Queue):
    def get(self, block=True, timeout=None):
        return self._items.pop()


class PriorityQueue(Queue):
    def get(self, block=True, timeout=None):
        self._items.sort()
        return self._items.pop(0)
