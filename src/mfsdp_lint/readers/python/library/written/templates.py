"""Templates of Jinja: where they are read from, and what they are given."""


__name__ = "jinja2"
"""Behaviour of `jinja2` 3.1 (jinja2/environment.py, jinja2/loaders.py); `filled` is a model of the evaluator."""

import os
from pathlib import Path


class Template:
    def __init__(self, source, *_, trim_blocks=False, lstrip_blocks=False, keep_trailing_newline=False, **others):
        self._source = source
        self._how = (trim_blocks, lstrip_blocks, keep_trailing_newline, others)
        self.globals = {}

    def render(self, *args, **kwargs): return filled(self._source, *self._how, {**self.globals, **dict(*args, **kwargs)})
    def stream(self, *args, **kwargs): return TemplateStream(self.render(*args, **kwargs))


class TemplateStream:
    def __init__(self, text): self._text = text

    def dump(self, fp, encoding=None, errors="strict"):
        if isinstance(fp, str):
            Path(fp).write_text(self._text)
        else:
            fp.write(self._text)


class FileSystemLoader:
    def __init__(self, searchpath, encoding="utf-8", followlinks=False):
        self.searchpath = [searchpath] if isinstance(searchpath, (str, Path)) else list(searchpath)

    def source_of(self, name):
        for folder in self.searchpath[:-1]:
            if os.path.exists(os.path.join(folder, name)):
                return Path(folder, name).read_text()
        return Path(self.searchpath[-1], name).read_text()


class DictLoader:
    def __init__(self, mapping): self._mapping = mapping
    def source_of(self, name): return self._mapping[name]


class Environment:
    def __init__(self, *_, loader=None, **options):
        self.loader = loader
        self.globals = {}
        self.filters = {}
        self.tests = {}
        self._options = options

    def get_template(self, name, parent=None, globals=None): return self.from_string(self.loader.source_of(name), globals)

    def from_string(self, source, globals=None):
        found = Template(source, filters=self.filters, tests=self.tests, **self._options)
        found.globals = {**self.globals, **(globals or {})}
        return found


def select_autoescape(*args, **kwargs): return False
