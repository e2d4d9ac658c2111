"""Command lines that libraries make of classes and functions; options and words are taken by library/applications.py."""


__name__ = "argparse"
"""Behaviour of `argparse.Action`, of which programs make their own (library/command_line.py calls them)."""


class Action:
    def __init__(self, option_strings, dest, nargs=None, const=None, default=None, type=None, choices=None, required=False,
                 help=None, metavar=None, deprecated=False):
        self.option_strings = option_strings
        self.dest = dest
        self.nargs = nargs
        self.const = const
        self.default = default
        self.type = type
        self.choices = choices
        self.required = required


__name__ = "transformers"
"""Behaviour of `transformers.HfArgumentParser`."""


import json as _json
from dataclasses import fields as _fields
from pathlib import Path as _Path

import yaml as _yaml


class HfArgumentParser:
    def __init__(self, dataclass_types=(), **keywords):
        self.dataclass_types = list(dataclass_types) if isinstance(dataclass_types, (tuple, list)) else [dataclass_types]

    def parse_args_into_dataclasses(self, args=None, return_remaining_strings=False, *more, **keywords):
        if args is None and not is_started():
            made = [options_of(each) for each in self.dataclass_types]
        else:
            made = objects_of_words(args, self.dataclass_types)
        return (*made, []) if return_remaining_strings else (*made,)

    def parse_dict(self, args, allow_extra_keys=False):
        made = []
        for each in self.dataclass_types:
            names = [field.name for field in _fields(each) if field.init]
            made.append(each(**{name: args[name] for name in args if name in names}))
        return (*made,)

    def parse_json_file(self, json_file, allow_extra_keys=False): return self.parse_dict(_json.loads(_Path(json_file).read_text()))

    def parse_yaml_file(self, yaml_file, allow_extra_keys=False): return self.parse_dict(_yaml.safe_load(_Path(yaml_file).read_text()))


__name__ = "absl.flags"
"""Behaviour of `absl.flags`: a flag that is defined is an attribute of `FLAGS` (library/applications.py)."""


class _Flag:
    def __init__(self, value): self.value = value


class FlagValues:
    def __call__(self, argv, known_only=False): return parsed() or argv
    def __getitem__(self, name): return _Flag(getattr(self, name))
    def __contains__(self, name): return hasattr(self, name)
    def set_default(self, name, value): setattr(self, name, value)
    def flag_values_dict(self): return vars(self)
    def mark_as_parsed(self): return None


FLAGS = FlagValues()


__name__ = "click"
"""Behaviour of `click`: a command runs behind its groups, and all share what these put into the context."""


class Context:
    def __init__(self, parent):
        self.parent = parent
        self.obj = parent.obj if parent is not None else object_of_caller()

    def ensure_object(self, object_type):
        self.obj = object_type() if self.obj is None else self.obj
        return self.obj

    def invoke(self, callback, *arguments, **keywords): return callback(*arguments, **keywords)
    def find_root(self): return self if self.parent is None else self.parent.find_root()


class Group:
    def __init__(self, callback, parent=None):
        self._callback = callback
        self._parent = parent
        self._commands = {}

    def _entered(self):
        context = Context(self._parent._entered() if self._parent is not None else None)
        run_in(context, self._callback)
        return context

    def command(self, name=None, *more, **options):
        def decorate(function):
            self._commands[name or name_of(function)] = function
            return command_in(self, function)

        return decorate

    def group(self, name=None, *more, **options):
        def decorate(function):
            self._commands[name or name_of(function)] = Group(function, self)
            return self._commands[name or name_of(function)]

        return decorate

    def add_command(self, command, name=None): return None
    def __call__(self, *arguments, **keywords): return start_group(self)


def group(*names, **options): return Group(names[0]) if names and callable(names[0]) else lambda function: Group(function)


__name__ = "typer"
"""Behaviour of `typer`: a command runs behind the callbacks of its programs."""


class Typer:
    def __init__(self, *, callback=None, **keywords):
        self._callback = callback
        self._parent = None
        self._commands = {}

    def _entered(self):
        if self._parent is not None:
            self._parent._entered()
        if self._callback is not None:
            run_in(None, self._callback)

    def callback(self, *names, **options):
        def decorate(function):
            self._callback = function
            return function

        return decorate

    def command(self, name=None, *more, **options):
        def decorate(function):
            self._commands[name or name_of(function)] = function
            return command_in(self, function)

        return decorate

    def add_typer(self, typer_instance, *, name=None, **options):
        typer_instance._parent = self
        if name is not None:
            self._commands[name] = typer_instance

    def __call__(self, *arguments, **keywords): return start_group(self)


__name__ = "jsonargparse"
"""Behaviour of `jsonargparse.ArgumentParser`: options with dots in their names, and of the fields of classes."""


import argparse as _argparse


class Namespace: pass


class ArgumentParser:
    def __init__(self, *arguments, **keywords):
        self._parser = _argparse.ArgumentParser()
        self._classes = {}
        self.add_argument = self._parser.add_argument
        self.set_defaults = self._parser.set_defaults
        self.add_argument_group = self._parser.add_argument_group

    def add_class_arguments(self, theclass, nested_key=None, **keywords):
        self._classes[nested_key] = theclass

    def add_dataclass_arguments(self, theclass, nested_key, **keywords):
        self._classes[nested_key] = theclass

    def parse_args(self, args=None, **keywords):
        made = Namespace()
        for name, value in vars(self._parser.parse_args(args)).items():
            _put(made, name, value)
        for name, theclass in self._classes.items():
            _put(made, name, options_of(theclass))
        return made

    def instantiate_classes(self, cfg, **keywords): return cfg
    def instantiate(self, cfg, **keywords): return cfg


def _put(made, name, value):
    *above, last = name.split(".")
    for part in above:
        if not hasattr(made, part):
            setattr(made, part, Namespace())
        made = getattr(made, part)
    setattr(made, last, value)


__name__ = "optparse"
"""Behaviour of `optparse`, of options with one value or none."""


import argparse as _argparse


class OptionParser:
    def __init__(self, *arguments, **keywords):
        self._parser = _argparse.ArgumentParser()
        self.add_option = self._parser.add_argument
        self.set_defaults = self._parser.set_defaults

    def add_option_group(self, group): return group
    def parse_args(self, args=None, values=None): return self._parser.parse_known_args(args)
