"""Keys of a configuration: every key, its values, and its purpose. The editors' schema is made of them."""

from __future__ import annotations

from typing import Literal

from mfsdp_lint.core.finding import SEVERITIES
from mfsdp_lint.core.records import dataclass
from mfsdp_lint.inputs.options import FAIL_ON, GROUPINGS, OUTPUT_FORMATS, PRESETS

Kind = Literal["switch", "text", "choice", "texts", "globs", "folder", "folders", "outputs", "codes by glob", "levels"]
"""What a key takes. `folder` is any path; it is relative to the file that says it, and so are `folders` and `globs`."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key of the configuration. `name` is as it is written; the field of the options has the same name with `_`."""

    name: str
    kind: Kind
    says: str
    choices: tuple[str, ...] = ()

    @property
    def field(self) -> str:
        """The field of Options that it fills."""
        return self.name.replace("-", "_")


KEYS = (
    Key("select", "texts", "only these rules: codes, their beginnings, or names"),
    Key("extend-select", "texts", "these rules as well"),
    Key("ignore", "texts", "not these rules"),
    Key("per-file-ignores", "codes by glob", "rules that do not count in the files that match"),
    Key("severity", "levels", "how severe the findings of a rule are, where not as the rule says", SEVERITIES),
    Key("preset", "choice", "which rules are on without being named", PRESETS),
    Key("preview", "switch", "new rules as well, which may still change"),
    Key("fail-on", "choice", "the least severity that makes a run fail", FAIL_ON),
    Key("exclude", "globs", "files and folders that are left out"),
    Key("force-exclude", "switch", "leave them out also where they are named, as a commit hook does"),
    Key("respect-gitignore", "switch", "leave out what git ignores"),
    Key("search-path", "folders", "where imports are found"),
    Key("extend-rules", "folders", "folders with rules of one's own"),
    Key("baseline", "folder", "a file of findings that are accepted for now"),
    Key("target-bridge", "text", "the megatron-bridge release to judge against, or a range of them"),
    Key("target-core", "text", "likewise of megatron-core"),
    Key("target-te", "text", "the version of Transformer Engine"),
    Key("target-torch", "text", "the version of PyTorch"),
    Key("target-gpu", "text", "the kind of GPU"),
    Key("front-end", "text", "the framework whose configurations the YAML files are, whatever they look like"),
    Key("fix", "switch", "apply the safe fixes"),
    Key("fix-only", "switch", "apply them, and say nothing of what remains"),
    Key("show-fixes", "switch", "prove the fixes, and list those that are applied"),
    Key("unsafe-fixes", "switch", "count, show and apply unsafe fixes as well"),
    Key("diff", "switch", "print what fixing would do as a patch, and write nothing"),
    Key(
        "output-format",
        "outputs",
        "how findings are printed; FORMAT=FILE writes them to a file",
        OUTPUT_FORMATS,
    ),
    Key("group-by", "choice", "what the report is arranged by", GROUPINGS),
    Key("statistics", "switch", "count the findings of each rule instead of showing them"),
    Key("cache", "switch", "keep what a run comes to, and use it while nothing changes"),
    Key("cache-dir", "folder", "where that is kept"),
)

EXTEND = Key("extend", "folder", "a file whose configuration counts where this one says nothing")
REQUIRED_VERSION = Key("required-version", "text", "the versions of mfsdp-lint that the configuration is for")

EVERY_KEY = (EXTEND, REQUIRED_VERSION, *KEYS)
BY_NAME = {key.name: key for key in EVERY_KEY}
