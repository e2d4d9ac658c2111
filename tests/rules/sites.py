"""Rules at the versions that they carry evidence for."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping

from mfsdp_lint.core.front_ends import BRIDGE
from mfsdp_lint.core.recipe import Recipe, Variant
from mfsdp_lint.core.settings import WrittenSettings
from mfsdp_lint.core.values import Known, Plain
from mfsdp_lint.megatron.conditions import Site
from mfsdp_lint.megatron.versions.releases import NEWEST_ON_THE_INDEX
from mfsdp_lint.rules.model import Example, Rule
from tests.rules.upstream_fields import exists
from tools.evidenced import sites

SITES = sites()
DEFAULT = NEWEST_ON_THE_INDEX


def where(rule: Rule) -> list[str]:
    """The sites at which a rule says something whatever the components are; by name."""
    return [name for name, site in SITES.items() if rule.versions.truth(site) is not False and claimed(rule, site)]


def claimed(rule: Rule, site: Site) -> bool:
    """Whether a case may be active there; a version of Transformer Engine or torch that is not known may be right."""
    return any(case.versions.truth(site) is not False for case in rule.cases)


def where_of(rule: Rule, example: Example) -> Iterator[tuple[str, Site]]:
    """The sites of an example, with the components that it gives."""
    for name in where(rule):
        site = with_components(SITES[name], example.components)
        if example.versions.truth(site):
            yield name, site


def with_components(site: Site, known: Mapping[str, str]) -> Site:
    """The same site with these versions of Transformer Engine and torch."""
    target = dataclasses.replace(site.target, te=known.get("te"), torch=known.get("torch"))
    return dataclasses.replace(site, target=target)


def recipe_of(settings: Mapping[str, Plain], site: Site) -> Recipe:
    """A recipe of plain settings, of which it has those that its release has."""
    given = {path: Known(value) for path, value in settings.items() if _is_given(path, settings, site)}
    variant = Variant(WrittenSettings.of(given))
    return Recipe("example", "example", "example.py", 1, "function", (variant,), front_end=site.front_end)


def _is_given(path: str, settings: Mapping[str, Plain], site: Site) -> bool:
    return site.front_end != BRIDGE or exists(path, settings, site.target.data)
