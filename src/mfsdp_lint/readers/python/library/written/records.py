"""Records of attrs and pydantic; their fields are filled in like those of a dataclass (eval/records.py)."""


__name__ = "attrs"
"""Behaviour of `attrs`, of an object of one of its classes."""


from dataclasses import asdict as _all_fields
from dataclasses import fields as _fields


def asdict(inst, recurse=True, filter=None, **keywords):
    if filter is None:
        return _all_fields(inst)
    found = {}
    for attribute in _fields(inst):
        if filter(attribute, getattr(inst, attribute.name)):
            found[attribute.name] = getattr(inst, attribute.name)
    return found


def fields(cls): return _fields(cls)
def has(cls): return hasattr(cls, "__attrs_attrs__")
def converters_optional(converter): return lambda value: None if value is None else converter(value)


def converters_pipe(*converters):
    def convert(value):
        for converter in converters:
            value = converter(value)
        return value

    return convert


__name__ = "pydantic"
"""Behaviour of `pydantic` version 2."""


import copy as _copy
import json as _json
from dataclasses import asdict as _all_fields
from dataclasses import fields as _fields


def _kept(values, include, exclude):
    names = [name for name in values if (include is None or name in include) and name not in (exclude or ())]
    return {name: values[name] for name in names}


class BaseModel:
    def model_dump(self, *, mode="python", include=None, exclude=None, exclude_none=False, **keywords):
        if include is None and exclude is None and not exclude_none and not keywords:
            return _all_fields(self)
        values = _kept(_all_fields(self), include, exclude)
        return {name: value for name, value in values.items() if not exclude_none or value is not None}

    def model_copy(self, *, update=None, deep=False):
        made = _copy.copy(self)
        for name in update or {}:
            setattr(made, name, update[name])
        return made

    @classmethod
    def model_validate(cls, obj, **keywords): return obj if isinstance(obj, cls) else cls(**obj)

    @classmethod
    def parse_obj(cls, obj): return cls(**obj)

    @classmethod
    def model_validate_json(cls, text, **keywords): return cls(**_json.loads(text))

    @classmethod
    def model_construct(cls, **values): return cls(**values)

    def __iter__(self): return iter([(field.name, getattr(self, field.name)) for field in _fields(self)])


__name__ = "pydantic_settings"
"""Behaviour of `pydantic_settings`: fields that no argument gives have the values of variables (eval/records.py)."""


from pydantic import BaseModel


class BaseSettings(BaseModel): pass
def SettingsConfigDict(**options): return options


__name__ = "ml_collections"
"""Behaviour of `ml_collections.ConfigDict` without references."""

import contextlib as _contextlib


class ConfigDict:
    def __init__(self, initial_dictionary=None, **keywords):
        for name, value in (initial_dictionary or {}).items():
            setattr(self, name, ConfigDict(value) if isinstance(value, dict) else value)

    def __getitem__(self, name): return getattr(self, name)
    def __setitem__(self, name, value): setattr(self, name, value)
    def __contains__(self, name): return hasattr(self, name)
    def __iter__(self): return iter(vars(self))
    def keys(self): return vars(self).keys()
    def values(self): return vars(self).values()
    def items(self): return vars(self).items()
    def get(self, name, default=None): return getattr(self, name, default)
    def lock(self): return self
    def unlock(self): return self
    def unlocked(self): return _contextlib.nullcontext(self)
    def to_dict(self): return {name: _plain(value) for name, value in vars(self).items()}

    def update(self, *others, **keywords):
        for other in [*others, keywords]:
            for name, value in other.items():
                former = getattr(self, name, None)
                if isinstance(former, ConfigDict) and isinstance(value, (dict, ConfigDict)):
                    former.update(value)
                else:
                    setattr(self, name, ConfigDict(value) if isinstance(value, dict) else value)


def _plain(value): return value.to_dict() if isinstance(value, ConfigDict) else value
def config_dict_ConfigDict(*arguments, **keywords): return ConfigDict(*arguments, **keywords)
def FrozenConfigDict(*arguments, **keywords): return ConfigDict(*arguments, **keywords)
