"""Completes the examples of the pages to whole workflows and checks them in every way there is."""

import json
from textwrap import indent
from typing import Any, cast

from jsonschema import Draft202012Validator

from handrail.authoring.native.schema import WORKFLOW
from handrail.authoring.shapes.json_schema import json_schema
from handrail.authoring.shapes.shapes import Shape
from handrail.authoring.workrail.schema import WORKFLOW as WORKRAIL_WORKFLOW
from handrail.compiler.lint import lint
from handrail.model.diagnostics import Severity
from handrail.model.source import plain
from support.compiler.native_case import compile_text, shown
from support.docs.pages import Block, blocks

NATIVE: Any = Draft202012Validator(json_schema(WORKFLOW, "workflow"))
WORKRAIL: Any = Draft202012Validator(json_schema(WORKRAIL_WORKFLOW, "workflow"))
ONE_STEP = "steps:\n  - name: work\n    prompt: Do what the issue asks for.\n"
FILE_TEXTS = {"md": "Do what the issue asks for.\n", "json": '{"type": "object"}\n'}


def is_example(block: Block) -> bool:
    """Tell whether a block is a workflow or a part of one; files of other kinds only serve commands."""
    file = block.notes.get("file", ".handrail/workflows/")
    if "broken" in block.notes or not file.startswith(".handrail/workflows/"):
        return False
    return block.language in ("yaml", "json", "markdown")


def completed(block: Block) -> tuple[str, str, dict[str, str]]:
    """Give the main file's name, its text, and the files beside it."""
    files = {name: _text_of(block.page, name) for name in _listed(block.notes.get("files"))}
    if block.language == "json":
        return "workflow.json", _json(block), files
    if block.language == "markdown":
        files["prompts/10-example.md"] = block.text
        steps = "steps:\n  - name: work\n    prompt: example\n"
        return "workflow.yaml", f"name: example\n{_inputs(block)}{steps}", files
    return "workflow.yaml", _yaml(block), files


def _yaml(block: Block) -> str:
    match block.notes.get("example"):
        case "step":
            return f"name: example\n{_inputs(block)}steps:\n{indent(block.text, '  ')}"
        case "workflow":
            return f"name: example\n{block.text}{'' if 'steps:' in block.text else ONE_STEP}"
        case _:
            return block.text


def _inputs(block: Block) -> str:
    return (
        "".join(["input:\n", *(f"  {each}\n" for each in given)])
        if (given := _listed(block.notes.get("input")))
        else ""
    )


def _json(block: Block) -> str:
    kind = block.notes.get("example")
    if kind is None:
        return block.text
    data = cast("dict[str, Any]", json.loads(block.text))
    whole = {"id": "example", "name": "Example", "description": "An example.", "version": "1.0.0"}
    step = {"id": "work", "title": "Work", "prompt": "Do what the issue asks for."}
    rest = {"steps": [data]} if kind == "step" else {"steps": [step], **data}
    return json.dumps({**whole, **rest}, indent=2)


def _text_of(page: str, name: str) -> str:
    """Give a file beside a workflow as the page itself shows it, else any of its kind."""
    shown = (each.text for each in blocks(page) if each.notes.get("file") == name)
    return next(shown, FILE_TEXTS[name.rpartition(".")[2]])


def _listed(note: str | None) -> list[str]:
    return [] if note is None else [each.strip() for each in note.split(", ")]


def problems(block: Block) -> str:
    """Say everything that is wrong with an example: errors, warnings and lints, then what its JSON Schema refuses."""
    main, text, files = completed(block)
    compiled, document, catalog = compile_text(text, files, main=main)
    said = [*compiled.diagnostics, *lint(compiled, document, catalog)]
    expected = _listed(block.notes.get("warns"))
    grave = shown(tuple(each for each in said if each.severity is not Severity.ADVICE and each.code not in expected))
    validator = WORKRAIL if main.endswith(".json") else NATIVE
    return "\n".join([*([grave] if grave else []), *refusals(plain(document.root), validator)])


def refusals(data: object, validator: Any = NATIVE) -> list[str]:
    """Say what a JSON Schema refuses in a workflow given as data."""
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(data)]


def data_of(block: Block) -> object:
    """Give an example as data without positions."""
    main, text, files = completed(block)
    _, document, _ = compile_text(text, files, main=main)
    return plain(document.root)


def shape_of(block: Block) -> Shape:
    """Give the shape of the format that an example is written in."""
    return WORKRAIL_WORKFLOW if block.language == "json" else WORKFLOW
