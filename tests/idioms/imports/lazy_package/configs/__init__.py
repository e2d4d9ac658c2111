import importlib

_WHERE = {"sharded_8b": ".sharded", "plain_1b": ".plain"}


def __getattr__(name):
    if name not in _WHERE:
        raise AttributeError(name)
    module = importlib.import_module(_WHERE[name], __name__)
    return getattr(module, name)
