"""Which functions out of sight leave what they are given as it is.

What is in neither table may change its arguments, and call the functions among them.
"""

from __future__ import annotations

import builtins

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
"""By dotted name, with the reason: they neither change what they are given nor call it before a launch."""

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
    "collections.Counter": "counts",
    "torch": "computes on tensors", "numpy": "computes on arrays", "pandas": "computes on tables",
    "transformers": "models and their configurations, made anew", "huggingface_hub": "the network",
    "wandb": "tells a server what it is given", "mlflow": "tells a server what it is given",
    "tensorboardX": "writes records", "psutil": "asks the machine", "packaging": "compares versions",
    "tabulate": "computes on texts", "termcolor": "computes on texts", "colorama": "computes on texts",
    "dotenv": "sets environment variables from a file",
}  # fmt: skip
"""By dotted name, with the reason: they do not change what they are given, but may call the functions among it."""

CHANGES = {
    "random.shuffle": "reorders the list", "numpy.random.shuffle": "reorders the list",
    "random.Random().shuffle": "reorders the list",
    "torch.distributed.broadcast_object_list": "replaces what is in the list",
    "torch.distributed.scatter_object_list": "replaces what is in the list",
    "torch.distributed.all_gather_object": "replaces what is in the list",
    "torch.distributed.gather_object": "replaces what is in the list",
    "torch.nn.init": "fills tensors", "torch.fx": "follows functions with values of its own",
    "os.register_at_fork": "calls when a process starts", "sys.settrace": "calls all the time",
    "sys.setprofile": "calls all the time",
    "inspect.getmembers": "reads properties, and gives the objects back",
    "inspect.getattr_static": "gives an object back",
    "inspect.getcallargs": "gives the objects back",
    "wandb.agent": "calls what it is given", "wandb.sweep": "calls what it is given",
    "logging.Filter": "is asked for each record", "json.JSONEncoder": "a class to derive from",
    "yaml.YAMLObject": "a class to derive from",
    "functools.partial": "calls later what it is given",
}  # fmt: skip
"""What is excepted from the tables above, with the reason."""

SPEAKERS = ("print_rank_0", "warn_rank_0", "log_single_rank")
"""Functions that print, under whatever module they are found (Megatron-Core and its users)."""


def _listed(name: str, table: dict[str, str]) -> int:
    """How much of a dotted name is listed; 0 where nothing is."""
    while name and name not in table:
        name = name.rpartition(".")[0]
    return len(name)


def _of_function(name: str) -> str:
    # `logging.getLogger().info`: a method of what a function of `logging` gave.
    return name.replace("()", "")


def changes_nothing(name: str) -> bool:
    """Whether a call of this dotted name leaves its arguments as they are."""
    plain = _of_function(name)
    if name.rpartition(".")[2] in SPEAKERS:
        return True
    listed = max(_listed(plain, TELLS), _listed(plain, READS))
    return listed > max(_listed(plain, CHANGES), _listed(name, CHANGES)) or _is_exception(name)


def calls_nothing(name: str) -> bool:
    """Whether a call that leaves its arguments as they are calls none of the functions among them either."""
    plain = _of_function(name)
    return name.rpartition(".")[2] in SPEAKERS or _listed(plain, TELLS) > 0 or _is_exception(name)


def _is_exception(name: str) -> bool:
    found = getattr(builtins, name.removeprefix("builtins."), None)
    return isinstance(found, type) and issubclass(found, BaseException)
