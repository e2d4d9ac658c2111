"""Elements in order."""


__name__ = "bisect"
"""Behaviour of `bisect`."""


def bisect_left(a, x, lo=0, hi=None, *, key=None):
    hi = len(a) if hi is None else hi
    while lo < hi:
        middle = (lo + hi) // 2
        if (a[middle] if key is None else key(a[middle])) < x:
            lo = middle + 1
        else:
            hi = middle
    return lo


def bisect_right(a, x, lo=0, hi=None, *, key=None):
    hi = len(a) if hi is None else hi
    while lo < hi:
        middle = (lo + hi) // 2
        if x < (a[middle] if key is None else key(a[middle])):
            hi = middle
        else:
            lo = middle + 1
    return lo


def insort_left(a, x, lo=0, hi=None, *, key=None):
    a.insert(bisect_left(a, x if key is None else key(x), lo, hi, key=key), x)


def insort_right(a, x, lo=0, hi=None, *, key=None):
    a.insert(bisect_right(a, x if key is None else key(x), lo, hi, key=key), x)


bisect = bisect_right
insort = insort_right


__name__ = "heapq"
"""Behaviour of `heapq`, the order within the list included."""


def heappush(heap, item):
    heap.append(item)
    _towards_root(heap, 0, len(heap) - 1)


def heappop(heap):
    last = heap.pop()
    if heap:
        smallest = heap[0]
        heap[0] = last
        _towards_leaves(heap, 0)
        return smallest
    return last


def heapreplace(heap, item):
    smallest = heap[0]
    heap[0] = item
    _towards_leaves(heap, 0)
    return smallest


def heappushpop(heap, item):
    if heap and heap[0] < item:
        smallest = heap[0]
        heap[0] = item
        _towards_leaves(heap, 0)
        return smallest
    return item


def heapify(x):
    for place in reversed(range(len(x) // 2)):
        _towards_leaves(x, place)


def _towards_root(heap, start, place):
    item = heap[place]
    while place > start:
        parent = (place - 1) >> 1
        if item < heap[parent]:
            heap[place] = heap[parent]
            place = parent
            continue
        break
    heap[place] = item


def _towards_leaves(heap, place):
    end = len(heap)
    start = place
    item = heap[place]
    child = 2 * place + 1
    while child < end:
        right = child + 1
        if right < end and not heap[child] < heap[right]:
            child = right
        heap[place] = heap[child]
        place = child
        child = 2 * place + 1
    heap[place] = item
    _towards_root(heap, start, place)


def merge(*iterables, key=None, reverse=False):
    return iter(sorted([item for iterable in iterables for item in iterable], key=key, reverse=reverse))


def nsmallest(n, iterable, key=None): return sorted(iterable, key=key)[:n]
def nlargest(n, iterable, key=None): return sorted(iterable, key=key, reverse=True)[:n]


__name__ = "queue"
"""Behaviour of `queue` in one thread."""


class Queue:
    def __init__(self, maxsize=0): self._items = []
    def put(self, item, block=True, timeout=None): self._items.append(item)
    def get(self, block=True, timeout=None): return self._items.pop(0)
    def put_nowait(self, item): self.put(item)
    def get_nowait(self): return self.get()
    def empty(self): return not self._items
    def qsize(self): return len(self._items)
    def task_done(self): return None
    def join(self): return None


class SimpleQueue(Queue):
    pass


class LifoQueue(Queue):
    def get(self, block=True, timeout=None): return self._items.pop()


class PriorityQueue(Queue):
    def get(self, block=True, timeout=None):
        self._items.sort()
        return self._items.pop(0)


__name__ = "graphlib"
"""Behaviour of `graphlib`, of graphs without cycles."""


class TopologicalSorter:
    def __init__(self, graph=None):
        self._before = {}
        self._behind = {}
        for node, predecessors in (graph or {}).items():
            self.add(node, *predecessors)

    def add(self, node, *predecessors):
        self._before.setdefault(node, [])
        for predecessor in predecessors:
            self._before.setdefault(predecessor, [])
            self._before[node].append(predecessor)
            self._behind.setdefault(predecessor, []).append(node)

    def static_order(self):
        missing = {node: len(predecessors) for node, predecessors in self._before.items()}
        found = []
        ready = [node for node in missing if not missing[node]]
        while ready:
            found.extend(ready)
            following = []
            for done in ready:
                for node in self._behind.get(done, []):
                    missing[node] -= 1
                    if not missing[node]:
                        following.append(node)
            ready = following
        return iter(found)
