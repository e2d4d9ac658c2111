"""Behaviour of objects of `packaging.version.Version`; library/versions.py reads the texts that they are made of."""


class Version:
    def __init__(self, text, public, key, epoch, release, pre, post, dev, local):
        self._text = text
        self.public = public
        self._key = key
        self.epoch = epoch
        self.release = release
        self.pre = pre
        self.post = post
        self.dev = dev
        self.local = local

    def _part(self, place):
        return self.release[place] if len(self.release) > place else 0

    @property
    def major(self):
        return self._part(0)

    @property
    def minor(self):
        return self._part(1)

    @property
    def micro(self):
        return self._part(2)

    @property
    def base_version(self):
        text = ".".join([str(part) for part in self.release])
        return f"{self.epoch}!{text}" if self.epoch else text

    @property
    def is_prerelease(self):
        return self.dev is not None or self.pre is not None

    @property
    def is_postrelease(self):
        return self.post is not None

    @property
    def is_devrelease(self):
        return self.dev is not None

    def __str__(self):
        return self._text

    def __repr__(self):
        return f"<Version('{self._text}')>"

    def __lt__(self, other):
        return self._key < other._key if isinstance(other, Version) else NotImplemented

    def __le__(self, other):
        return self._key <= other._key if isinstance(other, Version) else NotImplemented

    def __gt__(self, other):
        return self._key > other._key if isinstance(other, Version) else NotImplemented

    def __ge__(self, other):
        return self._key >= other._key if isinstance(other, Version) else NotImplemented

    def __eq__(self, other):
        return self._key == other._key if isinstance(other, Version) else NotImplemented

    def __ne__(self, other):
        return self._key != other._key if isinstance(other, Version) else NotImplemented
