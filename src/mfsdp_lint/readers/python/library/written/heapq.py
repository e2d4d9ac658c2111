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


def nsmallest(n, iterable, key=None):
    return sorted(iterable, key=key)[:n]


def nlargest(n, iterable, key=None):
    return sorted(iterable, key=key, reverse=True)[:n]
