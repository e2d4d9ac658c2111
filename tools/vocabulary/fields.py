"""The fields of a dataclass in upstream source, inherited ones included, with their declared defaults."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from mfsdp_lint.core.values import UNKNOWN, Value
from tools.vocabulary.trees import Module
from tools.vocabulary.values import called, value_of


@dataclass(frozen=True, slots=True)
class Field:
    """A field: `default` is the expression, `factory` the expression that is called for it, both None if the field is
    required. `module` is where it is declared, and where its expressions are evaluated.
    """

    name: str
    module: Module
    annotation: ast.expr
    default: ast.expr | None
    factory: ast.expr | None
    init: bool
    metadata: ast.expr | None

    @property
    def required(self) -> bool:
        """True if there is no default."""
        return self.default is None and self.factory is None

    def value(self) -> Value:
        """Return the default as a value; unknown if there is none."""
        if self.default is not None:
            return value_of(self.module, self.default)
        return UNKNOWN if self.factory is None else called(self.module, self.factory)


def fields_of(module: Module, node: ast.ClassDef) -> dict[str, Field]:
    """Return the fields in the order in which the dataclass has them."""
    fields: dict[str, Field] = {}
    for base in reversed(node.bases):
        found = _class(module, base)
        if found is not None:
            fields |= fields_of(*found)
    if _is_dataclass(node):
        fields |= {field.name: field for field in _own(module, node)}
    return fields


def _class(module: Module, base: ast.expr) -> tuple[Module, ast.ClassDef] | None:
    if isinstance(base, ast.Subscript):
        base = base.value
    found = module.find(base.id) if isinstance(base, ast.Name) else None
    if found is None:
        return None
    where, node = found
    if isinstance(node, ast.Name):  # an alias: `Base = Other`
        return _class(where, node)
    return (where, node) if isinstance(node, ast.ClassDef) else None


def _is_dataclass(node: ast.ClassDef) -> bool:
    return any("dataclass" in ast.unparse(decorator) for decorator in node.decorator_list)


def _own(module: Module, node: ast.ClassDef) -> Iterator[Field]:
    for statement in node.body:
        match statement:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=value):
                if "ClassVar" not in ast.unparse(annotation):
                    yield _field(module, name, annotation, value)


def _field(module: Module, name: str, annotation: ast.expr, value: ast.expr | None) -> Field:
    match value:
        case ast.Call(func=ast.Name(id="field") | ast.Attribute(attr="field"), keywords=keywords):
            said = {keyword.arg: keyword.value for keyword in keywords}
            init = not (isinstance(said.get("init"), ast.Constant) and ast.unparse(said["init"]) == "False")
            return Field(
                name, module, annotation, said.get("default"), said.get("default_factory"), init, said.get("metadata")
            )
        case _:
            return Field(name, module, annotation, value, None, True, None)
