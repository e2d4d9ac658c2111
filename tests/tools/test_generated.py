"""What is generated from the rules and checked in is what they say now (`make docs`)."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import jsonschema
import pytest

from mfsdp_lint.rules.load import TERMS_FILE, load_rules, raw_rules
from tools import architecture_page, configuration_schema, findings_schema, options_page, screens
from tools import rule_schema as schema
from tools.rule_pages import FOLDER, pages
from tools.skill import generate as skill

FILES = {file: data for file, data in raw_rules().items() if file != TERMS_FILE}


def test_the_pages_are_those_of_the_rules() -> None:
    assert {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")} == pages(load_rules())


def test_the_page_of_options_is_that_of_the_commands() -> None:
    assert options_page.PAGE.read_text(encoding="utf-8") == options_page.text()


def test_the_page_of_the_architecture_is_that_of_the_layout() -> None:
    assert architecture_page.PAGE.read_text(encoding="utf-8") == architecture_page.text()


def test_the_pictures_of_screens_are_those_of_a_run() -> None:
    pytest.importorskip("rich")
    assert {path.name: path.read_text(encoding="utf-8") for path in screens.FOLDER.iterdir()} == screens.screens()


def test_the_skill_is_that_of_the_rules() -> None:
    assert {path.name: path.read_text(encoding="utf-8") for path in skill.FOLDER.iterdir()} == skill.files()


def test_the_schema_is_that_of_the_form() -> None:
    assert schema.SCHEMA.read_text(encoding="utf-8") == schema.text()
    jsonschema.Draft202012Validator.check_schema(schema.schema())


def test_the_schema_of_the_configuration_is_that_of_its_keys() -> None:
    assert configuration_schema.SCHEMA.read_text(encoding="utf-8") == configuration_schema.text()


@pytest.mark.parametrize("path", findings_schema.SCHEMAS, ids=lambda path: str(path.name))
def test_the_schemas_of_documents_are_those_of_the_tool(path: Path) -> None:
    made = findings_schema.SCHEMAS[path]
    assert path.read_text(encoding="utf-8") == findings_schema.text(made)
    jsonschema.Draft202012Validator.check_schema(made())


@cache
def validator() -> jsonschema.Draft202012Validator:
    """The schema as it is shipped, which is checked once."""
    found = json.loads(schema.SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(found)
    return jsonschema.Draft202012Validator(found)


@pytest.mark.parametrize("file", FILES)
def test_every_rule_file_fits_the_schema(file: str) -> None:
    validator().validate(FILES[file])


def test_a_misspelt_field_does_not_fit_the_schema() -> None:
    data = dict(FILES["MFSDP101.yaml"], sumary="x")
    with pytest.raises(jsonschema.ValidationError, match="sumary"):
        jsonschema.validate(data, schema.schema())
