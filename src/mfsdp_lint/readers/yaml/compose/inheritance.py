"""NeMo-RL: `defaults` names the files that lie below this one; values may refer to each other.

A section with `_override_: true` replaces the one below it (`load_config_with_inheritance` in nemo_rl/utils/config.py,
7ea279ab).
"""

from __future__ import annotations

import posixpath

from mfsdp_lint.core.records import replace
from mfsdp_lint.core.values import Known, is_known_as
from mfsdp_lint.readers.paths import beside
from mfsdp_lint.readers.trees import MISSING, Leaf, Section, Tree, merge
from mfsdp_lint.readers.yaml.files import LONGEST_CHAIN, Files
from mfsdp_lint.readers.yaml.interpolation import ARITHMETIC, resolved

_REPLACES = "_override_"


def compose(path: str, root: Section, files: Files) -> Section:
    """Compose a file with all that it inherits, references filled in."""
    return resolved(inherited(path, root, files, ()), files.environment, ARITHMETIC)


def inherited(path: str, root: Section | None, files: Files, chain: tuple[str, ...]) -> Section:
    """Return a file with all that it inherits."""
    if root is None or path in chain or len(chain) > LONGEST_CHAIN:
        return MISSING
    found = root.get("defaults")
    if found is None:
        return root
    below = Section()
    for name in _names(found):
        there = name if posixpath.isabs(name) else beside(path, name)
        if there not in files.composed:
            files.composed[there] = inherited(there, files.tree(there), files, (*chain, path))
        below = _laid_over(below, files.composed[there])
    return _laid_over(below, root.without("defaults"))


def _names(found: Tree) -> list[str]:
    """Return the files that are named; "", which is no file, where the name is not known."""
    known = found.value.value if isinstance(found, Leaf) and isinstance(found.value, Known) else [None]
    names = known if isinstance(known, list) else [known]
    return [name if isinstance(name, str) else "" for name in names]


def _laid_over(below: Section, above: Section) -> Section:
    replaced = [name for name, each in above.entries.items() if isinstance(each, Section) and _replaces(each)]
    entries = {
        name: each.without(_REPLACES) if name in replaced and isinstance(each, Section) else each
        for name, each in above.entries.items()
    }
    return merge(below.without(*replaced), replace(above, entries=entries))


def _replaces(section: Section) -> bool:
    marker = section.get(_REPLACES)
    return isinstance(marker, Leaf) and is_known_as(marker.value, True)
