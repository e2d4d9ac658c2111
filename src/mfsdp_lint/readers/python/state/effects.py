"""Effects of functions out of sight on their arguments, by the functions' dotted names.

One table serves all who ask: the evaluator, when it cannot follow a call, and the making of snapshots, which only
looks at written code. A function that is not listed may change its arguments, and call the functions among them.
"""

from __future__ import annotations

import ast
import builtins
import io
from collections import OrderedDict, deque
from collections.abc import Iterable
from enum import IntEnum
from functools import cache

from mfsdp_lint.readers.python.values.objects import Bound, Function, Object, Partial


class Effect(IntEnum):
    """The worst that a call may do, from nothing to everything."""

    NOTHING = 0
    """It neither changes what it is given nor calls it before a launch."""
    CALLS = 1
    """It changes nothing, but may call the functions among what it is given."""
    KEEPS = 2
    """It changes nothing itself, but its result is, or holds, what it is given, which can be changed through it."""
    FILLS = 3
    """It changes the contents of a list or a dictionary that it is given, and no attribute."""
    ANYTHING = 4
    """It may change all that it is given."""
    RUNS = 5
    """It runs code that it is given as text, which may change whatever there is."""


TELLS = {
    "logging": "writes records",
    "warnings": "writes warnings",
    "loguru": "writes records",
    "absl.logging": "writes records",
    "rich": "writes to the terminal",
    "pprint": "writes to the terminal",
    "click.echo": "writes to the terminal",
    "click.secho": "writes to the terminal",
    "tqdm.tqdm.write": "writes to the terminal",
    "megatron.training.config.container.print_yaml": "writes to the terminal",  # core 0.19.0, container.py:215
    "traceback": "reads stack frames",
    "inspect": "reads objects",
    "pytest": "marks tests, which it calls in a program of its own",
    "typing": "types, for checkers",
    "typing_extensions": "types, for checkers",
    "abc": "marks classes",
    "atexit": "calls when the process ends, behind every launch",
    "signal": "calls when a signal arrives",
    "faulthandler": "calls when the process crashes",
    "gc": "collects what nobody can reach",
    "tracemalloc": "measures memory",
    "resource": "measures the process",
    "os.environ": "a table of texts; what changes it is modelled",
}
"""NOTHING, with the reason."""

READS = {
    "math": "computes on numbers", "cmath": "computes on numbers", "statistics": "computes on numbers",
    "decimal": "computes on numbers", "fractions": "computes on numbers", "numbers": "kinds of numbers",
    "random": "draws numbers",
    "datetime": "computes on times", "time": "reads the clock", "calendar": "computes on dates",
    "zoneinfo": "reads time zones",
    "json": "reads objects, or makes them of a text", "pickle": "reads objects, or makes them of bytes",
    "marshal": "reads objects", "csv": "reads and writes rows", "configparser": "makes tables of a text",
    "tomllib": "makes tables of a text", "tomli": "makes tables of a text",
    "yaml": "reads objects, or makes them of a text",
    "textwrap": "computes on texts", "string": "computes on texts", "re": "computes on texts",
    "unicodedata": "computes on texts", "difflib": "compares texts", "shlex": "computes on texts",
    "fnmatch": "computes on texts", "html": "computes on texts", "urllib": "texts, and the network",
    "hashlib": "computes on bytes", "hmac": "computes on bytes", "base64": "computes on bytes",
    "binascii": "computes on bytes", "struct": "computes on bytes", "zlib": "computes on bytes",
    "uuid": "makes identifiers", "secrets": "makes identifiers",
    "os": "asks and changes the machine", "pathlib": "asks and changes the machine",
    "shutil": "copies files", "glob": "finds files", "tempfile": "makes files", "io": "files in memory",
    "builtins.open": "opens a file", "builtins.input": "asks the terminal",
    **{f"builtins.{name}": "asks an object" for name in (
        "callable", "dir", "hasattr", "hash", "id", "isinstance", "issubclass", "len", "type")},
    **{f"builtins.{name}": "makes a text or a number" for name in (
        "abs", "all", "any", "ascii", "bin", "bool", "bytes", "chr", "complex", "divmod", "float", "format", "hex",
        "int", "oct", "ord", "pow", "print", "range", "repr", "round", "str", "sum")},
    "sys": "the interpreter", "platform": "asks the machine", "socket": "the network", "getpass": "asks the machine",
    "subprocess": "starts programs, which share no objects", "locale": "asks the machine",
    "importlib": "imports modules", "pkgutil": "finds modules", "errno": "numbers", "ast": "reads texts",
    "argparse": "describes options; parsing is modelled", "getopt": "reads options", "optparse": "describes options",
    "multiprocessing.cpu_count": "asks the machine", "multiprocessing.set_start_method": "sets how processes start",
    "multiprocessing.get_context": "sets how processes start", "multiprocessing.current_process": "asks the machine",
    "threading.Lock": "waits", "threading.RLock": "waits", "threading.Event": "waits",
    "threading.Condition": "waits", "threading.Semaphore": "waits", "threading.Barrier": "waits",
    "threading.current_thread": "asks the machine", "threading.get_ident": "asks the machine",
    "contextlib.redirect_stdout": "redirects texts", "contextlib.redirect_stderr": "redirects texts",
    "enum": "makes and reads enumerations", "types": "makes and reads types", "dataclasses": "makes and reads records",
    "functools": "wraps functions; what calls them is modelled", "collections.abc": "kinds of containers",
    "collections.Counter": "counts", "array": "tables of numbers", "ipaddress": "computes on texts",
    "bisect": "finds the place of a value in a list",
    "omegaconf.OmegaConf.is_dict": "asks for a class", "omegaconf.OmegaConf.is_list": "asks for a class",
    "omegaconf.OmegaConf.is_config": "asks for a class",
    "torch": "computes on tensors", "numpy": "computes on arrays", "pandas": "computes on tables",
    "transformers": "models and their configurations, made anew", "huggingface_hub": "the network",
    "wandb": "tells a server what it is given", "mlflow": "tells a server what it is given",
    "tensorboardX": "writes records", "psutil": "asks the machine", "packaging": "compares versions",
    "tabulate": "computes on texts", "termcolor": "computes on texts", "colorama": "computes on texts",
    "dotenv": "sets environment variables from a file",
    "unittest.TestCase": "compares values", "pydantic": "makes and reads records", "pydantic_settings": "reads records",
}  # fmt: skip
"""CALLS, with the reason."""

KEEPS = {
    "builtins": "values, and objects that are asked", "builtins.object.__getattribute__": "gives a part back",
    "collections": "containers of what they are given", "itertools": "goes through what it is given",
    "contextlib": "gives back what it is given", "copy": "copies share what they hold",
    "operator": "reads objects, and gives parts of them back", "weakref": "gives back what it is given",
    "functools.partial": "calls later what it is given", "threading": "calls what it is given, in its own time",
    "inspect.getmembers": "reads properties, and gives the objects back",
    "inspect.getattr_static": "gives an object back", "inspect.getcallargs": "gives the objects back",
    "heapq.nlargest": "gives items of a list back", "heapq.nsmallest": "gives items of a list back",
    "heapq.merge": "gives items of lists back",
    "tqdm": "goes through what it is given",
}  # fmt: skip
"""KEEPS, with the reason."""

_SEQUENCE = ("append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse")
_TABLE = ("pop", "popitem", "clear", "update", "setdefault")
_SET = ("add", "discard", "remove", "pop", "clear", "update", "difference_update", "intersection_update",
        "symmetric_difference_update")  # fmt: skip
_FILLED = {
    "builtins.list": _SEQUENCE, "builtins.bytearray": _SEQUENCE, "builtins.dict": _TABLE, "builtins.set": _SET,
    "collections.deque": (*_SEQUENCE, "appendleft", "extendleft", "popleft", "rotate"),
    "collections.OrderedDict": (*_TABLE, "move_to_end"), "collections.defaultdict": _TABLE,
}  # fmt: skip

FILLS = {
    **{f"{kind}.{method}": "changes what it holds" for kind, methods in _FILLED.items() for method in methods},
    **{f"operator.{name}": "changes the container" for name in (
        "setitem", "delitem", "iadd", "iconcat", "imul", "ior", "iand", "ixor", "isub")},
    "random.shuffle": "reorders the list", "numpy.random.shuffle": "reorders the list",
    "random.Random().shuffle": "reorders the list", "numpy.random.RandomState().shuffle": "reorders the list",
    "numpy.random.default_rng().shuffle": "reorders the list",
    "heapq": "keeps a list in order", "bisect.insort": "puts a value into a list",
    "bisect.insort_left": "puts a value into a list", "bisect.insort_right": "puts a value into a list",
    "torch.distributed.broadcast_object_list": "replaces what is in the list",
    "torch.distributed.scatter_object_list": "replaces what is in the list",
    "torch.distributed.all_gather_object": "replaces what is in the list",
    "torch.distributed.gather_object": "replaces what is in the list",
    "torch.nn.init": "fills tensors",
}  # fmt: skip
"""FILLS, with the reason."""

CHANGES = {
    "torch.fx": "follows functions with values of its own",
    "os.register_at_fork": "calls when a process starts", "sys.settrace": "calls all the time",
    "sys.setprofile": "calls all the time",
    "wandb.agent": "calls what it is given", "wandb.sweep": "calls what it is given",
    "logging.Filter": "is asked for each record", "json.JSONEncoder": "a class to derive from",
    "yaml.YAMLObject": "a class to derive from",
    "builtins.setattr": "writes an attribute", "builtins.delattr": "takes an attribute away",
    "builtins.object": "says nothing of what its methods do", "builtins.type.__setattr__": "writes an attribute",
    "operator.methodcaller": "calls any method", "operator.call": "calls what it is given",
}  # fmt: skip
"""ANYTHING, with the reason: what is excepted from the tables above."""

RUNS = {f"builtins.{name}": "runs a text" for name in ("exec", "eval", "compile", "__import__")}
"""RUNS, with the reason."""

_TABLES = (TELLS, READS, KEEPS, FILLS, CHANGES, RUNS)
EFFECTS = {name: Effect(number) for number, table in enumerate(_TABLES) for name in table}
"""Of these names, and of all that is below them and not listed itself."""

SPEAKERS = ("print_rank_0", "warn_rank_0", "log_single_rank")
"""Functions that print, under whatever module they are found (Megatron-Core and its users)."""

KINDS = {
    "builtins": (str, dict, list, tuple, set, frozenset, int, float, bytes),
    "collections": (deque, OrderedDict),
    "io": (io.TextIOWrapper,),
}
"""The classes whose methods are known by their names alone, whatever they are called on, by their modules."""
RECORDS = frozenset(("debug", "info", "warning", "error", "exception", "critical", "log"))
"""The methods of loggers, likewise."""


@cache
def effect(name: str) -> Effect:
    """Return the worst effect that a call of this dotted name may have."""
    if name.rpartition(".")[2] in SPEAKERS or _is_exception(name):
        return Effect.NOTHING
    # `logging.getLogger().info`: a method of what a function of `logging` gave.
    return EFFECTS.get(max(_listed(name), _listed(name.replace("()", "")), key=len), Effect.ANYTHING)


def _listed(name: str) -> str:
    """Return the longest part of a dotted name, from its beginning, that is listed."""
    while name and name not in EFFECTS:
        name = name.rpartition(".")[0]
    return name


@cache
def effect_of_method(name: str) -> Effect:
    """Return the worst effect of a method of this name of a text, a number, a container, a file or a logger.

    Returns ANYTHING where none of them has it. A method that Python calls by itself may be that of any object.
    """
    if name in RECORDS:
        return Effect.NOTHING
    if name.startswith("__"):
        return Effect.ANYTHING
    having = (
        f"{module}.{kind.__name__}.{name}" for module, kinds in KINDS.items() for kind in kinds if hasattr(kind, name)
    )
    return max(map(effect, having), default=Effect.ANYTHING)


def changes_nothing_of_its_object(name: str, qualified: Iterable[str]) -> bool:
    """Tell whether a method leaves its object as it is, by its name and its dotted names in bases out of sight."""
    return effect_of_method(name) <= Effect.CALLS or any(effect(each) <= Effect.CALLS for each in qualified)


def changes_nothing(name: str) -> bool:
    """Tell whether a call of this dotted name leaves its arguments as they are."""
    return effect(name) <= Effect.CALLS


def calls_nothing(name: str) -> bool:
    """Tell whether a call of this dotted name calls none of the functions among its arguments either."""
    return effect(name) == Effect.NOTHING


def _is_exception(name: str) -> bool:
    found = getattr(builtins, name.removeprefix("builtins."), None)
    return isinstance(found, type) and issubclass(found, BaseException)


def only_looks(value: Object) -> bool:
    """Tell whether calling a value surely leaves its arguments as they are, by the code of the value."""
    match value:
        case Function(unwrapped=None):
            return not any(_may_change(node, value) for node in ast.walk(value.node))
        case Bound(function=str(name)):
            return effect_of_method(name) <= Effect.KEEPS
        case Bound(function=function) | Partial(function=function):
            return only_looks(function)
    return False


def _may_change(node: ast.AST, function: Function) -> bool:
    match node:
        case ast.Attribute() | ast.Subscript():
            return not isinstance(node.ctx, ast.Load)
        case ast.AugAssign():
            return True
        case ast.Call(func=ast.Name(id=name)):
            known = hasattr(builtins, name) and name not in function.module.fields
            return not known or effect(f"builtins.{name}") > Effect.KEEPS
        case ast.Call(func=ast.Attribute(attr=name)):
            return effect_of_method(name) > Effect.KEEPS
        case ast.Call():
            return True
    return False
