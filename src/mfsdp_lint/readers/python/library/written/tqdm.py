"""Effect of `tqdm` on the program: it hands on the elements."""


class tqdm:
    def __init__(self, iterable=None, *_, **__):
        self.iterable = iterable

    def __iter__(self):
        yield from self.iterable

    def __len__(self):
        return len(self.iterable)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def update(self, n=1):
        return None

    def close(self):
        return None

    def set_description(self, desc=None, refresh=True):
        return None

    def set_postfix(self, ordered_dict=None, refresh=True, **_):
        return None


def trange(*arguments, **_):
    return tqdm(range(*arguments))
