"""SKILL.md: how to turn Megatron-FSDP on, where it is in the source, what goes wrong with it, how to make sure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from mfsdp_lint.core.values import spell
from mfsdp_lint.reports.explain import fix_of
from tools.evidenced import BRIDGE
from tools.skill.enabling import own_settings, to_write
from tools.skill.pitfalls import NEWEST, Pitfall

NAME = "megatron-fsdp"

DESCRIPTION = (
    "Turning Megatron-FSDP on in Megatron-Bridge recipes: what to write, what goes wrong in which release, "
    "where the source says so, and how to check a recipe without a GPU."
)

WHEN = (
    "Writing, changing or reviewing a training recipe with use_megatron_fsdp, data_parallel_sharding_strategy, "
    "fsdp_dtensor or use_torch_fsdp2; or a run that was refused or diverged after FSDP was turned on."
)

_HEAD = f"""---
name: {NAME}
description: >-
  {DESCRIPTION}
license: Apache-2.0
when_to_use: >-
  {WHEN}
---

# Megatron-FSDP

Generated from the rules and the vocabulary of mfsdp-lint, for Megatron-Bridge {BRIDGE[0]} to {NEWEST} and its
development branch (`head`). A summary is in [card.yaml](card.yaml). `mfsdp-lint explain CODE` tells the whole of a
pitfall, `mfsdp-lint explain ddp.SETTING` what a setting is by default in every release."""

_VERIFICATION = """## Verification

No GPU, torch or Megatron is needed to check a recipe, and its code is not run:

```bash
mfsdp-lint --target-bridge {newest} recipes/llama.py            # what is wrong, by line; exit code 1 if anything is
mfsdp-lint --output-format json recipes/llama.py                # the same for programs: cause, consequence, edits
mfsdp-lint --fix recipes/llama.py                               # the proved, safe fixes
mfsdp-lint audit recipes/llama.py                               # the configuration, as written and as it will run
mfsdp-lint why recipes/llama.py::llama3_8b checkpoint.ckpt_format   # who set a value
mfsdp-lint explain "PASTED ERROR MESSAGE"                       # which rule foresees it
```

Without `--target-bridge` the release is found in the project; the last line of the output says which, and why.

Where torch and Megatron are installed, two ranks without a GPU show it:
`mfsdp-lint dry-run recipes/llama.py::llama3_8b`.

Success criteria:

- `mfsdp-lint` ends with 0, and its last line names the release that the run will use.
- `mfsdp-lint why` shows `fsdp_dtensor` for `checkpoint.ckpt_format`, and `audit` the strategy that was meant.
- Nothing was silenced to get there: no new `# mfsdp: ignore`, no `--ignore`."""


def page(pitfalls: Sequence[Pitfall]) -> str:
    """Write the page."""
    verification = _VERIFICATION.replace("{newest}", NEWEST)
    lines = [_HEAD, "", *_enablement(), *_anchors(pitfalls), *_pitfalls(pitfalls), verification, ""]
    return "\n".join(lines)


def _enablement() -> Iterator[str]:
    yield from ("## Enablement", "", "What NVIDIA's guides write, in every release:", "", "```python")
    yield from (f"cfg.{path} = {spell(value)}" for path, value in to_write().items())
    yield from ("```", "")
    yield "A release may require more. `enable` writes all that it takes, and proves that nothing else changes:"
    yield from ("", "```bash")
    yield "mfsdp-lint enable recipes/llama.py::llama3_8b --save /new/dir           # as a patch"
    yield "mfsdp-lint enable recipes/llama.py::llama3_8b --save /new/dir --write   # into the file"
    yield from ("```", "")
    yield f"Settings that are about it, with their defaults in {NEWEST}:"
    yield from ("", "| setting | default | meaning |", "| --- | --- | --- |")
    yield from (f"| `{entry.path}` | `{default}` | {entry.meaning} |" for entry, default in own_settings())
    yield ""


def _anchors(pitfalls: Sequence[Pitfall]) -> Iterator[str]:
    yield from ("## Code Anchors", "")
    yield f"Where Megatron-Bridge {NEWEST}, and the Megatron-LM that it pins, do what the pitfalls are about. Lines of"
    yield "other releases are in `mfsdp-lint explain CODE --all`."
    yield from ("", "| file | line: pitfall |", "| --- | --- |")
    places = sorted({(p.repository, p.path, p.line, each.rule.code) for each in pitfalls for p in each.evidence})
    for (repository, path), group in groupby(places, key=lambda place: place[:2]):
        lines = [(line, code) for _, _, line, code in group]
        told = (f"{line}: {', '.join(code for _, code in some)}" for line, some in groupby(lines, key=lambda at: at[0]))
        yield f"| {repository} `{path}` | {'; '.join(told)} |"
    yield ""


def _pitfalls(pitfalls: Sequence[Pitfall]) -> Iterator[str]:
    yield from ("## Pitfalls", "")
    yield "A pitfall stands where the worst is that it does in any release; `by hand`: no one value puts it right."
    yield ""
    silent = [each for each in pitfalls if each.is_silent]
    stops = [each for each in pitfalls if each.severity == "error" and not each.is_silent]
    rest = [each for each in pitfalls if each.severity != "error"]
    yield from _table("Trains wrong, without an error", silent)
    yield from _table("Stops the run", stops)
    yield from _table("Costs memory or speed, fails later, or is ignored", rest)


def _table(title: str, pitfalls: Sequence[Pitfall]) -> Iterator[str]:
    yield from (f"### {title}", "", "| code | what | releases | fix |", "| --- | --- | --- | --- |")
    for each in pitfalls:
        cells = (each.rule.code, each.rule.summary, each.versions, _fix(each))
        yield f"| {' | '.join(cells)} |"
    yield ""


def _fix(pitfall: Pitfall) -> str:
    newest = [*pitfall.at.values()][-1]
    offered = (f"`{fix_of(fix)}`" for fix in newest.fixes if not fix.none)
    return " or ".join(dict.fromkeys(offered)) or "by hand"
