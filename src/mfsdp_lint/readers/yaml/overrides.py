"""Override files: YAML that changes the configuration of a Megatron-Bridge recipe.

Bridge loads such a file with OmegaConf and merges it over a recipe's configuration (`process_config_with_overrides` in
megatron/bridge/training/utils/omegaconf_utils.py, 0.2.0 to 0.6.0). One recipe a document; what
that leaves out is unknown.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from mfsdp_lint.core.recipe import NamedWrite, Recipe, Variant
from mfsdp_lint.core.settings import WrittenSettings
from mfsdp_lint.core.values import Known
from mfsdp_lint.megatron.vocabulary import SECTIONS
from mfsdp_lint.megatron.vocabulary.entry import Versions
from mfsdp_lint.readers.named import of_bridge
from mfsdp_lint.readers.yaml.document import Document, target_of
from mfsdp_lint.readers.yaml.nodes import Mapping, Scalar

_WHOLE = Known("megatron.bridge.training.config.ConfigContainer")
"""The class of a whole configuration."""

KEYS = "|".join(sorted(SECTIONS))
"""A document of this shape has one of them, as a pattern."""


_OF_OTHERS = frozenset({"defaults", "exp_manager"})
"""What other files have beside a `model`: the files below this one (Hydra), and the section that every configuration of
NeMo 1 has. Bridge merges one file alone, and refuses keys that are none of its sections."""


def is_one(root: Mapping) -> bool:
    """Tell whether a document writes to a section, and to a configuration of Bridge."""
    if any(isinstance(key, Scalar) and key.text in _OF_OTHERS for key, _ in root.entries):
        return False
    for key, value in root.entries:
        if isinstance(key, Scalar):
            section, dot, _ = key.text.partition(".")
            if section in SECTIONS and (dot or isinstance(target_of(value), Mapping)):
                return True
    return False


def recipes(document: Document, root: Mapping, versions: Versions, nth: str) -> Iterator[Recipe]:
    """Yield the recipe of a document; `nth` distinguishes it from the others of its file.

    A configuration that Bridge has dumped (`run_config.yaml`) contains every setting.
    """
    settings = document.settings(root)
    dumped = (whole := settings.get("__class__")) is not None and whole.value == _WHOLE
    named = () if dumped else of_bridge(NamedWrite(each.path, each.origin) for each in settings.values() if each.origin)
    yield Recipe(
        name=posixpath.basename(document.path) + nth,
        qualified_name=document.path + nth,
        path=document.path,
        line=document.lines.position(root.start)[0],
        kind="configuration" if dumped else "overrides",
        variants=(Variant(WrittenSettings(settings, named)),),
        partial=not dumped,
    )
