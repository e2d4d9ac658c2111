"""Objects that a configuration names by `_target_`."""


__name__ = "hydra.utils"
"""Behaviour of hydra 1.3 (hydra/_internal/instantiate/_instantiate2.py), and of what Megatron-Bridge has made of it for its
own configurations (training/utils/instantiate_utils.py and config_utils.py, 0.3.1 to head), which drops what a class does
not have."""

import dataclasses as _dataclasses
import functools as _functools
import importlib as _importlib

import yaml as _yaml
from hydra.utils import get_object as _get_object
from omegaconf import OmegaConf as _OmegaConf

_OWN = ("_target_", "_args_", "_partial_", "_call_", "_recursive_", "_convert_", "_name_")


def _elsewhere(*values):
    """Be what is not modelled."""
    return _importlib.import_module("hydra._internal.instantiate._instantiate2").instantiate_node(*values)


def _made(value, args=(), drops=False):
    if isinstance(value, list):
        return [_made(each, drops=drops) if isinstance(each, (dict, list)) else each for each in value]
    if not isinstance(value, dict):
        return value
    if value.get("_target_") is None:
        made = dict(value)
        for name, each in value.items():
            if isinstance(each, (dict, list)):
                made[name] = _made(each, drops=drops)
        return made if drops else _OmegaConf.create(made)
    if "_recursive_" in value or "_convert_" in value:
        return _elsewhere(value)
    found = _get_object(value["_target_"]) if isinstance(value["_target_"], str) else value["_target_"]
    if not value.get("_call_", True):
        return found
    known = found.__dataclass_fields__ if drops and _dataclasses.is_dataclass(found) else value
    fields = dict(value)
    for name, each in value.items():
        if name in _OWN or name not in known:
            del fields[name]
        elif isinstance(each, (dict, list)):
            fields[name] = _made(each, drops=drops)
    args = args or _made(value.get("_args_", []), drops=drops)
    if value.get("_partial_", False):
        return _functools.partial(found, *args, **fields)
    return found(*args, **fields)


def instantiate(config, *args, **kwargs):
    if config is None:
        return None
    if any(isinstance(each, dict) for each in kwargs.values()):
        return _elsewhere(config, kwargs)
    whole = config if isinstance(config, (dict, list)) else _OmegaConf.to_container(config, resolve=True)
    return _made({**whole, **kwargs} if kwargs else whole, args)


def call(config, *args, **kwargs): return instantiate(config, *args, **kwargs)
def container_from_dict(cls, config_dict, mode=None): return _made(config_dict, drops=True)


def container_from_yaml(cls, yaml_path, mode=None):
    with open(yaml_path) as file:
        return container_from_dict(cls, _yaml.safe_load(file))
