"""The next steps that answers about guided steps name, typed as printed."""

import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from handrail.cli.main import cli
from support.next_steps.follow import Shell, Typed, follow
from support.pull.room import Json, Pull, chain, definition, step


@pytest.fixture
def pull(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pull]:
    made = Pull(tmp_path)
    monkeypatch.chdir(made.workspace)
    yield made
    made.close()


def in_pull(pull: Pull) -> Shell:
    def type_line(line: str) -> Typed:
        done = CliRunner().invoke(cli, shlex.split(line)[1:], env={**pull.environ, "HANDRAIL_DRIVER_IDLE": "0.2"})
        return Typed(line, done.exit_code, done.output)

    return type_line


def seen(status: str) -> Json:
    basis = {"kind": "wr.capability_observation", "version": 1, "capability": "web_browsing", "status": status}
    return {**basis, "method": "probe", "evidence": "tried it"}


def test_a_capability_that_lacks_is_let_be_missing(pull: Pull) -> None:
    at = pull.start(definition(step("one"), step("two"), capabilities={"web_browsing": "required"}))
    said = pull.advance(at, artifacts=[seen("unavailable")]).text
    follow(
        in_pull(pull),
        said,
        "{}; or let it go on without: handrail prefer {} --risk aggressive, then handrail resume {}",
        shows="aggressive",
    )
    follow(
        in_pull(pull),
        said,
        "{}; or let it go on without: handrail prefer {} --risk aggressive, then handrail resume {}",
        at=1,
        code=3,
        shows="held by",
    )
    assert pull.advance(at, artifacts=[seen("unavailable")]).address == "two"


def test_a_step_that_was_refused_too_often_is_shown_and_starts_over(pull: Pull) -> None:
    said = first = pull.start(definition(step("one"), step("two")))
    for number in range(10):
        said = pull.advance(said, notes=None, context={"try": number})
    follow(
        in_pull(pull),
        said.text,
        "see what it gave: handrail show {} {}; handrail resume {} lets the step start over",
        shows="one",
    )
    follow(
        in_pull(pull),
        said.text,
        "see what it gave: handrail show {} {}; handrail resume {} lets the step start over",
        at=1,
        code=3,
        shows="held by",
    )
    assert pull.advance(said).address == "two"
    assert first.run


def test_notes_that_were_left_out_are_shown(pull: Pull) -> None:
    said = pull.start(chain(11))
    for number in range(10):
        said = pull.advance(said, notes=f"NOTE{number:02} " + "e" * 3990)
    follow(
        in_pull(pull),
        pull.rehydrate(said).text,
        "[Older notes are left out; `handrail show {}` has them all.]",
        shows="step-1",
    )


def test_what_is_preferred_is_said(pull: Pull) -> None:
    at = pull.start(chain(2))
    asked = in_pull(pull)(f"handrail prefer {at.run}")
    follow(
        in_pull(pull), asked.text, "handrail prefer {} --autonomy full_auto_stop_on_user_deps", shows="full_auto_stop"
    )
