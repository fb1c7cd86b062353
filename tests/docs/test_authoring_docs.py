"""The pages about writing workflows are complete and true: each key and name of the formats, and none besides."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from handrail.authoring.native.parts import AGENT_SETTINGS
from handrail.authoring.native.schema import WORKFLOW
from handrail.authoring.native.steps import COMMON, RECORDS
from handrail.authoring.readers.yaml_reader import read_yaml
from handrail.authoring.shapes.shapes import Shape
from handrail.authoring.workrail.schema import WORKFLOW as WORKRAIL_WORKFLOW
from handrail.authoring.workrail.steps import COMMON as WORKRAIL_COMMON
from handrail.compiler import record_types
from handrail.compiler.catalog import Catalog
from handrail.compiler.native.check_steps import FAILURES
from handrail.compiler.native.steps import ALLOWED_ON_FAIL, FAILS, ON_FAIL_ELSEWHERE
from handrail.compiler.native.types import NAMED
from handrail.compiler.scope import RESERVED
from handrail.compiler.workrail.declarations import KNOWN_CAPABILITIES
from handrail.compiler.workrail.routines import template_ids
from handrail.model.diagnostics import Report
from handrail.model.source import SourceText, plain
from handrail.model.workflow.types import ListType, RecordType, Type
from handrail.sources.library import builtins
from support.compiler.native_case import compile_library, read_text
from support.docs.examples import data_of, is_example, refusals, shape_of
from support.docs.key_index import draw_key_index
from support.docs.keys import Keys, keys_by_record, used_keys, words
from support.docs.pages import CODE, ROOT, Table, blocks, group, prose, tables, text_of

AUTHORING = "docs/authoring.md"
WORKRAIL = "docs/authoring-workrail.md"
PAGES: dict[str, tuple[Shape, dict[str, Keys]]] = {
    AUTHORING: (WORKFLOW, {"agent settings": AGENT_SETTINGS, "every step": COMMON}),
    WORKRAIL: (WORKRAIL_WORKFLOW, {"every step": WORKRAIL_COMMON}),
}


def _known(page: str) -> dict[str, Keys]:
    shape, parts = PAGES[page]
    return {**keys_by_record(shape), **parts}


def _key_tables(page: str) -> Iterator[tuple[Table, str, Keys]]:
    """Each table of keys with the name of what it documents, and the keys that another table says already."""
    known = _known(page)
    for table in (each for part in group(page) for each in tables(part)):
        what, _, besides = table.notes.get("keys", "").partition(", besides ")
        if what:
            yield table, what, known[besides] if besides else {}


@pytest.mark.parametrize("page", PAGES)
def test_every_table_of_keys_has_the_keys_of_the_format_and_no_others(page: str) -> None:
    known = _known(page)
    for table, what, besides in _key_tables(page):
        own = {name for name, key in known[what].items() if besides.get(name) is not key}
        assert (what, set(table.firsts)) == (what, own)
        assert len(table.firsts) == len(table.rows)


@pytest.mark.parametrize("page", PAGES)
def test_every_record_of_the_format_has_its_table(page: str) -> None:
    documented = [what for _, what, _ in _key_tables(page)]
    assert sorted(documented) == sorted(_known(page))


@pytest.mark.parametrize("page", PAGES)
def test_every_key_stands_in_an_example(page: str) -> None:
    examples = [block for part in group(page) for block in blocks(part) if is_example(block)]
    used = {id(key) for block in examples for key in used_keys(shape_of(block), data_of(block))}
    known = {(what, name): key for what, keys in _known(page).items() for name, key in keys.items()}
    assert [place for place, key in known.items() if id(key) not in used] == []


@pytest.mark.parametrize("page", PAGES)
def test_every_word_of_a_choice_is_named(page: str) -> None:
    text = "\n".join(prose(part) for part in group(page))
    said = {word for code in CODE.findall(text) for word in re.findall(r"[\w-]+", code)}
    assert sorted(words(PAGES[page][0]) - said) == []


@pytest.mark.parametrize("page", PAGES)
def test_the_index_of_keys_leads_to_the_table_of_each_key(page: str) -> None:
    path = ROOT / page.removesuffix(".md") / "keys.md"
    drawn = draw_key_index(
        text_of(path.relative_to(ROOT).as_posix()), [(table, what) for table, what, _ in _key_tables(page)]
    )
    if os.environ.get("HANDRAIL_UPDATE_DOCS"):
        path.write_text(drawn, encoding="utf-8")
    assert path.read_text("utf-8") == drawn, "HANDRAIL_UPDATE_DOCS=1 writes it again"


def _fields(page: str, note: str) -> Table:
    (found,) = [table for part in group(page) for table in tables(part) if table.notes.get("fields") == note]
    return found


def _rows(page: str, note: str) -> dict[str, list[str]]:
    """A table's rows: the first cell without its marks, with the code of the others in their order."""
    rows = _fields(page, note).rows
    return {row[0].strip("`"): [code for cell in row[1:] for code in CODE.findall(cell)] for row in rows}


def _names(type_: Type) -> list[str]:
    inner = type_.item if isinstance(type_, ListType) else type_
    return list(inner.names()) if isinstance(inner, RecordType) else []


def test_the_types_are_those_of_the_format() -> None:
    assert _fields(AUTHORING, "types").firsts == list(NAMED)


def test_the_reserved_names_are_all_there() -> None:
    assert set(_fields(AUTHORING, "reserved").firsts) == RESERVED


def test_the_record_of_a_step_has_the_fields_that_are_listed() -> None:
    fields = [field.name for field in record_types.STEP_FIELDS]
    assert sorted(_fields(AUTHORING, "steps.NAME").firsts) == sorted(["output", *fields])


def test_the_results_of_steps_have_the_fields_that_are_listed() -> None:
    results = {kind: _names(type_) for kind, type_ in record_types.RESULTS.items()}
    assert _rows(AUTHORING, "results") == {kind: names for kind, names in results.items() if names}


def test_the_other_records_have_the_fields_that_are_listed() -> None:
    round_names = [name for name in record_types.ROLE_NAMES if name != "changes"]
    at = round_names.index("open") + 1
    assert _rows(AUTHORING, "records") == {
        "issue": _names(record_types.ISSUE),
        "run": _names(record_types.RUN),
        "a finding": _names(record_types.FINDING),
        "a round of a review": [*round_names[:at], *_names(record_types.OPEN), *round_names[at:], "changes"],
        "a failed check, in `failures": _names(FAILURES["failures"]),
    }


def test_the_table_of_failures_has_the_default_and_the_words_of_each_type() -> None:
    expected = {
        kind: [FAILS.get(kind, "block"), *sorted(ALLOWED_ON_FAIL.get(kind, ON_FAIL_ELSEWHERE))] for kind in RECORDS
    }
    assert _rows(AUTHORING, "on_fail") == expected


def test_the_ids_of_the_library_are_listed() -> None:
    library = builtins()
    listed = {note: _fields(WORKRAIL, note).firsts for note in ("features", "refs", "contracts", "templates")}
    assert listed == {
        "features": list(library.feature_ids()),
        "refs": list(library.ref_ids()),
        "contracts": list(library.contract_ids()),
        "templates": sorted(template_ids(Catalog(library))),
    }
    assert _fields(WORKRAIL, "assessments").firsts == list(library.assessment_ids())
    assert _fields(WORKRAIL, "capabilities").firsts == list(KNOWN_CAPABILITIES)


def test_the_settings_of_features_are_listed() -> None:
    library = builtins()
    for row in _fields(WORKRAIL, "features").rows:
        feature = library.feature(row[0].strip("`"))
        config = feature.config if feature is not None else None
        properties = config["properties"] if isinstance(config, dict) else None
        assert set(CODE.findall(row[2])) == (set(properties) if isinstance(properties, dict) else set())


LIBRARY_WORKFLOWS = sorted(
    path.parent.name for path in (ROOT / "src/handrail/library/workflows").glob("*/workflow.yaml")
)


@pytest.mark.parametrize("name", LIBRARY_WORKFLOWS)
def test_the_json_schema_accepts_the_built_in_workflows(name: str) -> None:
    _, document, _ = compile_library(name)
    assert refusals(plain(document.root)) == []


SHAPE_FAULTS = ("unknown-key", "missing-key", "wrong-type", "bad-value")
BEYOND_THE_SCHEMA = {
    "create-issues-constant": "whether a text names a list is the language's affair",
    "step-on-fail-retry-on-a-loop": "which words of on_fail a type has is decided while lowering",
    "step-on-fail-undo-on-a-gate": "the same",
    "step-on-fail-undo-on-an-approval": "the same",
    "step-on-fail-without-meaning": "the same",
    "yaml-not-finite": "the reader refuses .inf and leaves a makeshift 0",
}
"""Broken workflows whose fault is one of shape by its code, and that a schema still cannot see: why."""


def _shape_faults() -> Iterator[Path]:
    """Broken workflows of one file whose errors are all faults of shape."""
    for path in sorted((ROOT / "tests/corpus/native").glob("*.yaml")):
        said = [line for line in path.with_suffix(".expected").read_text("utf-8").splitlines() if ": error: " in line]
        if said and all(line.endswith(tuple(f"[{code}]" for code in SHAPE_FAULTS)) for line in said):
            yield path


@pytest.mark.parametrize("path", list(_shape_faults()), ids=lambda path: path.stem)
def test_the_json_schema_rejects_what_the_compiler_rejects_for_its_shape(path: Path) -> None:
    root = read_yaml(SourceText(path.name, path.read_text("utf-8")), Report())
    assert root is not None
    assert (refusals(plain(root)) == []) == (path.stem in BEYOND_THE_SCHEMA)


def test_an_editor_and_handrail_agree_on_the_values_of_yaml() -> None:
    document = read_text("name: a\nsteps:\n  - {name: b, type: agent-loop, prompt: review-changes, converge: off}\n")
    assert json.loads(json.dumps(plain(document.root)))["steps"][0]["converge"] == "off"
