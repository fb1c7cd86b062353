"""The pages docs/cassettes.md and docs/secrets.md are tried out, and name what the program knows."""

import re
from dataclasses import fields

import pytest

from handrail.authoring.scripts.cassette import RecordedCall
from handrail.processes.secret_forms import FORMS
from support.docs.commands import Shown, commands, fits
from support.docs.examples import problems
from support.docs.pages import blocks
from support.docs.repository import begin, shown
from support.places import ROOT

pytestmark = pytest.mark.system  # takes long

__all__ = ["shown"]
PAGE = "docs/cassettes.md"


def test_every_command_of_the_page_on_cassettes_prints_what_it_shows(shown: Shown) -> None:
    begin(shown, PAGE)
    for block in blocks(PAGE):
        for command in commands(block) if block.language == "console" else ():
            _, printed = shown.run(command.line)
            assert fits(command.expected, printed), f"{block}: $ {command.line}\n{printed}"


def test_the_workflow_of_the_page_on_cassettes_compiles() -> None:
    (workflow,) = [block for block in blocks(PAGE) if block.notes.get("file", "").endswith("workflow.yaml")]
    assert problems(workflow) == ""


def test_every_key_of_a_recorded_call_is_named() -> None:
    named = re.findall(r"`([a-z_]+)`", (ROOT / PAGE).read_text("utf-8"))
    assert {each.name for each in fields(RecordedCall)} <= set(named)


def test_every_kind_of_secret_has_a_row() -> None:
    rows = re.findall(r"^\| `([a-z-]+)` \|", (ROOT / "docs/secrets.md").read_text("utf-8"), re.MULTILINE)
    assert rows == list(dict.fromkeys(form.kind for form in FORMS))
