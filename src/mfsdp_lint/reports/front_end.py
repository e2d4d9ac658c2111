"""A framework on top of Megatron, for reading: whose code it runs, what its keys set, what it makes of them."""

from __future__ import annotations

from collections.abc import Iterator

from mfsdp_lint.core.values import describe
from mfsdp_lint.megatron.front_ends import FrameworkSettings, KeyTarget, Profile, SettingsPlace

_NAMED = {
    "attributes": "the names of Megatron-LM's parsed arguments",
    "flags": "Megatron-LM's flags",
}


def render(profile: Profile) -> str:
    """Render one framework."""
    who = profile.front_end
    validated = "" if who.starts_up else ", without its start-up validation"
    core = f", on megatron-core {who.core} alone" if who.core else ""
    lines = [f"{who.name}", f"  runs the code of {who.runs}{validated}{core}; as of {profile.source}", ""]
    for code, reason in profile.reasons:
        verb = "spared" if code in who.spared else "enforces"
        lines.append(f"{verb:<9} {code}  {reason}")
    for place in profile.places:
        lines += _place(place)
    return "\n".join(lines) + "\n"


def _place(place: SettingsPlace) -> Iterator[str]:
    wanted = ", ".join(f"{'.'.join(key)}: {' or '.join(map(str, values))}" for key, values in place.where)
    yield f"settings  at {'.'.join(place.at) or 'the root'}" + (f", where {wanted}" if wanted else "")
    if place.named in _NAMED:
        yield f"          {_NAMED[place.named]}"
    wide = max((len(".".join(line.key)) for line in place.lines), default=0)
    for line in place.lines:
        meant = ", ".join(map(_target, line.targets)) or "nothing: nobody reads it"
        yield f"          {'.'.join(line.key):<{wide}}  {meant}"
    for made in place.made:
        yield from _made(made)


def _target(target: KeyTarget) -> str:
    words = ", ".join(f"{word} = {meant}" for word, meant in target.values if word != meant)
    return target.setting + (f" ({words})" if words else "")


def _made(made: FrameworkSettings) -> Iterator[str]:
    when = f" when {made.when.text}" if made.when else ""
    yield f"makes    {' where nobody writes it' if made.default else ''}{when}  ({made.evidence})"
    for path, value in made.settings:
        yield f"          {path} = {describe(value)}"
