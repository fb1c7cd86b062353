"""The next steps that answers about guided steps name, typed as printed."""

import shlex
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from handrail.cli.main import cli
from handrail.model.actors import Actor
from handrail.model.history.run_state import update_state
from handrail.operations.pull.recap import gap_lines
from handrail.operations.pull.take_over import hand_to_agent
from support.next_steps.follow import Shell, Typed, follow
from support.pull.room import Json, Pull, Said, chain, definition, step

pytestmark = pytest.mark.system  # takes long: many processes of its own


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
        "{}; or let the run continue without it: handrail prefer {} --risk aggressive, then handrail resume {}",
        shows="aggressive",
    )
    follow(
        in_pull(pull),
        said,
        "{}; or let the run continue without it: handrail prefer {} --risk aggressive, then handrail resume {}",
        at=1,
        shows="continues with connected",
    )
    assert pull.advance(at, artifacts=[seen("unavailable")]).address == "two"


def test_a_step_that_was_refused_too_often_is_shown_and_starts_over(pull: Pull) -> None:
    said = first = pull.start(definition(step("one"), step("two")))
    for number in range(10):
        said = pull.advance(said, notes=None, context={"try": number})
    follow(
        in_pull(pull),
        said.text,
        "see what was submitted: handrail show {} {}; then start over: handrail resume {}",
        shows="one",
    )
    follow(
        in_pull(pull),
        said.text,
        "see what was submitted: handrail show {} {}; then start over: handrail resume {}",
        at=1,
        shows="continues with connected",
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


def test_gaps_that_were_left_out_are_shown(pull: Pull) -> None:
    at = pull.start(chain(2))
    gap: Json = {"category": "unexpected", "severity": "info", "message": "slow", "address": "step-1"}
    said = "\n".join(gap_lines(update_state(pull.state(at.run), gaps=(gap,) * 30)))
    follow(in_pull(pull), said, "- and {} more: handrail show {}", shows="step-1")


def test_what_an_agent_inside_a_step_cannot_ask_is_left_to_a_person(pull: Pull) -> None:
    at = pull.start(definition(step("one", requireConfirmation=True), step("two")))
    ctx = pull.calls.ctx
    pull.calls = replace(pull.calls, ctx=replace(ctx, caller=Actor("agent", "other-1/work")))
    said = pull.advance(at).text
    follow(
        in_pull(pull),
        said,
        "a person can let an agent of Handrail do the step, and is then asked to confirm: handrail release {}",
        code=3,
        shows="Handrail is running",
    )


def test_what_is_preferred_is_said(pull: Pull) -> None:
    at = pull.start(chain(2))
    asked = in_pull(pull)(f"handrail prefer {at.run}")
    follow(
        in_pull(pull), asked.text, "handrail prefer {} --autonomy full_auto_stop_on_user_deps", shows="full_auto_stop"
    )


TIDY = """\
name: NAME
description: Tidy the page.
steps:
  - {name: page, prompt: Write page.md., done_when: [{exists: page.md}]}
  - {name: ok, type: approval, message: Is it tidy?}
  - {name: last, prompt: Say goodbye.}
"""
TWO = definition(step("one"), step("two"))
NEEDS_WEB = definition(step("one"), step("two"), capabilities={"web_browsing": "required"})
CONFIRMED = definition(step("one", requireConfirmation=True), step("two"))


def unproven(pull: Pull) -> Said:
    refused = pull.advance(pull.start(pull.add(TIDY, "tidy")))
    (pull.workspace / "page.md").write_text("tidy\n", "utf-8")
    return refused


def approved(pull: Pull) -> Said:
    asked = pull.advance(unproven(pull))
    assert asked.codes == ["USER_ONLY_DEPENDENCY"]
    assert in_pull(pull)(f"handrail approve {asked.run}").code == 0
    return asked


def used(pull: Pull) -> Said:
    first = pull.start(TWO)
    pull.advance(first)
    return pull.advance(first, notes="Other words.")


NEXT_CALLS: dict[str, tuple[Callable[[Pull], Said], list[str], str | None, list[str]]] = {
    "a step that begins": (lambda pull: pull.start(TWO), [], "two", []),
    "not proven, and proven since": (unproven, ["NOT_PROVEN"], None, ["USER_ONLY_DEPENDENCY"]),
    "refused": (lambda pull: pull.advance(pull.start(TWO), notes=None), ["MISSING_REQUIRED_NOTES"], "two", []),
    "waiting for a person, who approved": (approved, ["USER_ONLY_DEPENDENCY"], "last", []),
    "a token that was used": (used, [], None, []),
    "a capability that lacks": (
        lambda pull: pull.advance(pull.start(NEEDS_WEB), artifacts=[seen("unavailable")]),
        ["REQUIRED_CAPABILITY_UNAVAILABLE"],
        "two",
        [],
    ),
    "a step to confirm": (lambda pull: pull.start(CONFIRMED), [], "two", []),
    "a point that was kept": (lambda pull: pull.checkpoint(pull.start(TWO)), [], "one", []),
}
"""What was answered, with its blockers; where the run stands after its next call was made as it is, and those there."""


@pytest.mark.parametrize("kind", NEXT_CALLS)
def test_the_next_call_of_an_answer_is_made_as_it_stands(pull: Pull, kind: str) -> None:
    answer, blockers, address, after = NEXT_CALLS[kind]
    said = answer(pull)
    assert [each["code"] for each in said.data.get("blockers", ())] == blockers
    call = said.data["nextCall"]
    then = pull.call(call["tool"], **call["params"])
    assert (then.is_error, then.address, then.codes) == (False, address, after)
    assert then.complete is (address is None and not after)


def test_an_answer_with_nothing_left_to_call_carries_no_call(pull: Pull) -> None:
    first = pull.start(definition(step("one")))
    assert pull.advance(first).data["nextCall"] is None
    other = pull.start(TWO)
    hand_to_agent(pull.writer, other.run, "person:ann")
    pull.drive()
    held = pull.advance(other)
    assert (held.code, held.data.get("nextCall")) == ("HELD_BY_ANOTHER", None)
