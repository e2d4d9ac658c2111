"""Versions: those of the packages that the target says are installed, and how texts of versions compare (PEP 440)."""

from __future__ import annotations

import re
from typing import Any

from mfsdp_lint.readers.python.eval.written import written
from mfsdp_lint.readers.python.state.calling import invoke
from mfsdp_lint.readers.python.state.machine import Machine
from mfsdp_lint.readers.python.state.models import LIBRARY, Model, models
from mfsdp_lint.readers.python.state.paths import Raised
from mfsdp_lint.readers.python.values.frames import Call
from mfsdp_lint.readers.python.values.objects import External, Object, Unknown, is_symbolic

_LONGEST = 200
_PATTERN = re.compile(
    r"""\s*v?(?:(?P<epoch>\d+)!)?(?P<release>\d+(?:\.\d+)*)
    (?:[-_.]?(?P<pre>alpha|a|beta|b|preview|pre|c|rc)[-_.]?(?P<pre_number>\d+)?)?
    (?P<post>-(?P<post_alone>\d+)|[-_.]?(?:post|rev|r)[-_.]?(?P<post_number>\d+)?)?
    (?P<dev>[-_.]?dev[-_.]?(?P<dev_number>\d+)?)?
    (?:\+(?P<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?\s*""",
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
"""A version as PEP 440 has it, appendix B."""
_PRE = {"alpha": "a", "beta": "b", "c": "rc", "pre": "rc", "preview": "rc"}
_LEAST, _MOST = (0,), (2,)


def _number(text: str | None) -> int:
    return int(text or 0)


def _read(text: str) -> tuple[Any, ...] | None:
    """Return the parts of a version object (see written/packaging/version.py); None where a text is no version."""
    found = _PATTERN.fullmatch(text) if len(text) < _LONGEST else None
    if found is None:
        return None
    said = found.group
    epoch, release = _number(said("epoch")), tuple(map(int, said("release").split(".")))
    letter = (said("pre") or "").lower()
    pre = (_PRE.get(letter, letter), _number(said("pre_number"))) if letter else None
    post = _number(said("post_alone") or said("post_number")) if said("post") else None
    dev = _number(said("dev_number")) if said("dev") else None
    local = re.split(r"[-_.]", said("local").lower()) if said("local") else []
    parts = [str(int(part)) if part.isdigit() else part for part in local]
    public = f"{epoch}!" * bool(epoch) + ".".join(map(str, release))
    public += "".join(map(str, pre or ())) + (f".post{post}" if post is not None else "")
    public += f".dev{dev}" if dev is not None else ""
    significant = len(release)
    while significant and not release[significant - 1]:
        significant -= 1
    key = (
        epoch,
        release[:significant],
        (1, *pre) if pre else _LEAST if post is None and dev is not None else _MOST,
        _LEAST if post is None else (1, post),
        _MOST if dev is None else (1, dev),
        (1, *((1, int(part), "") if part.isdigit() else (0, 0, part) for part in parts)) if parts else _LEAST,
    )
    shown = f"{public}+{'.'.join(parts)}" if parts else public
    return shown, public, key, epoch, release, pre, post, dev, ".".join(parts) or None


@models("packaging.version.Version", "packaging.version.parse", "pkg_resources.parse_version")
def _version(machine: Machine, call: Call) -> Object:
    value = machine.settle(call.arguments[0]) if len(call.arguments) == 1 else call.keywords.get("version")
    text = version_of(machine, "torch") if value == External("torch.__version__") else value
    if not isinstance(text, str) or is_symbolic(text):
        return machine.unknown("version", not_none=True)
    made_of = _read(text)
    if made_of is None:
        raise Raised("InvalidVersion", f"Invalid version: '{text}'")
    return invoke(machine, written(machine, "packaging.version.Version"), call.passing(list(made_of)))


def version_of(machine: Machine, package: str) -> Object:
    """Return the version of an installed package, as a text; unknown where the target does not say it."""
    found = machine.knowledge.version_of(package) if machine.knowledge is not None else None
    return machine.unknown(f"the version of {package}", not_none=True) if found is None else found


def _package(machine: Machine, arguments: list[Object], keywords: dict[str, Object], name: str) -> str:
    package = machine.settle(arguments[0]) if arguments else machine.settle(keywords.get(name))
    return package if isinstance(package, str) else "a package"


@models("importlib.metadata.version", "importlib_metadata.version")
def _installed_version(machine: Machine, call: Call) -> Object:
    return version_of(machine, _package(machine, call.arguments, call.keywords, "distribution_name"))


@models("importlib.metadata.distribution", "importlib_metadata.distribution", "pkg_resources.get_distribution")
def _distribution(machine: Machine, call: Call) -> Object:
    made = Unknown(machine.tick(), "distribution", True)
    made.fields["version"] = version_of(machine, _package(machine, call.arguments, call.keywords, "distribution_name"))
    return made


def _get_version(package: str) -> Model:
    def model(machine: Machine, call: Call) -> Object:
        return LIBRARY["packaging.version.Version"](machine, call.passing([version_of(machine, package)]))

    return model


def _is_min_version(package: str) -> Model:
    def model(machine: Machine, call: Call) -> Object:
        installed = version_of(machine, package)
        wanted = machine.settle(call.arguments[0] if call.arguments else call.keywords["version"])
        equality = machine.settle(
            call.arguments[1] if len(call.arguments) > 1 else call.keywords.get("check_equality", True)
        )
        if not isinstance(installed, str) or not isinstance(wanted, str) or not isinstance(equality, bool):
            return machine.unknown(f"the version of {package}", not_none=True)
        there, least = _read(installed), _read(wanted)
        if there is None or least is None:
            return machine.unknown(f"the version of {package}", not_none=True)
        return bool(there[2] > least[2] or (equality and there[2] == least[2]))

    return model


for _package_name, _short in (("torch", "torch"), ("transformer-engine", "te")):
    models(f"megatron.core.utils.get_{_short}_version")(_get_version(_package_name))
    models(f"megatron.core.utils.is_{_short}_min_version")(_is_min_version(_package_name))
