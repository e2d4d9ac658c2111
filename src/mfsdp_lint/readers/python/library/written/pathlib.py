"""What `pathlib` does with the text of a path; what the machine says of it is not known."""

import os
import os.path as paths


class PurePath:
    def __init__(self, *parts):
        self._text = plain_path(parts)

    def __str__(self):
        return self._text

    def __fspath__(self):
        return self._text

    def as_posix(self):
        return self._text

    def __truediv__(self, other):
        return type(self)(self._text, other)

    def __rtruediv__(self, other):
        return type(self)(other, self._text)

    def joinpath(self, *parts):
        return type(self)(self._text, *parts)

    def __eq__(self, other):
        return isinstance(other, PurePath) and self._text == other._text

    def __lt__(self, other):
        return self._text < other._text

    @property
    def parent(self):
        return type(self)(paths.dirname(self._text) or ".")

    @property
    def parents(self):
        found = []
        here = self
        while here.parent != here:
            here = here.parent
            found.append(here)
        return found

    @property
    def name(self):
        return "" if self._text == "." else paths.basename(self._text)

    @property
    def suffix(self):
        return paths.splitext(self.name)[1]

    @property
    def stem(self):
        return paths.splitext(self.name)[0]

    @property
    def parts(self):
        return path_parts(self._text)

    def with_name(self, name):
        return self.parent / name

    def with_suffix(self, suffix):
        return self.parent / (self.stem + suffix)

    def with_stem(self, stem):
        return self.parent / (stem + self.suffix)

    def is_absolute(self):
        return paths.isabs(self._text)


class PurePosixPath(PurePath):
    pass


class Path(PurePath):
    def exists(self):
        return paths.exists(self._text)

    def is_dir(self):
        return paths.isdir(self._text)

    def is_file(self):
        return paths.isfile(self._text)

    def mkdir(self, mode=511, parents=False, exist_ok=False):
        return None

    def touch(self, mode=438, exist_ok=True):
        return None

    def write_text(self, data, encoding=None, errors=None, newline=None):
        return None

    def write_bytes(self, data):
        return None

    def unlink(self, missing_ok=False):
        return None

    def open(self, *arguments, **keywords):
        return open(self._text, *arguments, **keywords)

    def read_text(self, encoding=None, errors=None):
        return open(self._text).read()

    def read_bytes(self):
        return open(self._text, "rb").read()

    def absolute(self):
        return self if self.is_absolute() else Path(os.getcwd(), self._text)

    def resolve(self, strict=False):
        return Path(paths.realpath(self._text))

    def expanduser(self):
        return Path(paths.expanduser(self._text))

    def glob(self, pattern):
        return os.listdir(self._text)

    def rglob(self, pattern):
        return os.listdir(self._text)

    def iterdir(self):
        return os.listdir(self._text)


class PosixPath(Path):
    pass


def Path_cwd():
    return Path(os.getcwd())


def Path_home():
    return Path(paths.expanduser("~"))
