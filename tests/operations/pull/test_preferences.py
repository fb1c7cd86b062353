"""How far a connected agent's run goes on alone: set by its user, shown in every answer, disclosed at the end."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from inline_snapshot import snapshot

from handrail.cli.main import cli
from handrail.engine.state.preferences import PreferenceChange
from handrail.operations.runs.lifecycle import answer, resume
from handrail.operations.runs.prefer import prefer
from handrail.operations.views.explain import explain
from handrail.operations.views.run_document import run_document
from handrail.sources.tiers import here
from handrail.sources.trust.store import TrustStore
from handrail.sources.workflow_snapshot import take
from support.pull.room import Pull, Said, chain, definition, step

NEVER = "full_auto_never_stop"


def seen(status: str, name: str = "web_browsing") -> dict[str, Any]:
    basis = {"kind": "wr.capability_observation", "version": 1, "capability": name, "status": status}
    return {**basis, "method": "probe", "evidence": "tried it"}


def result(number: int, status: str = "done") -> dict[str, Any]:
    return {"kind": "wr.delegation_result", "delegation": number, "status": status, "summary": "looked at it"}


def preferences(said: Said) -> tuple[str, str]:
    told = said.data["preferences"]
    return told["autonomy"], told["riskPolicy"]


def taken_up(pull: Pull) -> None:
    """Let the engine read what was sent to runs."""
    asyncio.run(pull.system.supervisor("room").run_until_idle())


def repository_config(pull: Pull, text: str) -> Path:
    path = pull.workspace / ".handrail" / "config.toml"
    path.parent.mkdir()
    path.write_text(text, "utf-8")
    return path


def test_every_answer_shows_what_is_preferred(pull: Pull) -> None:
    at = pull.start(chain(2))
    assert preferences(at) == ("guided", "conservative")
    assert preferences(pull.advance(at)) == ("guided", "conservative")


def test_the_users_configuration_holds_for_new_runs(pull: Pull) -> None:
    (pull.home / "config.toml").write_text(f'[pull]\nautonomy = "{NEVER}"\nrisk = "balanced"\n', "utf-8")
    at = pull.start(chain(1))
    assert preferences(at) == (NEVER, "balanced")
    assert [event.kind for event in pull.events(at.run)[:3]] == ["run_started", "run_taken", "preferences_set"]


def test_a_repository_is_heard_once_it_is_trusted_and_the_user_goes_first(pull: Pull) -> None:
    path = repository_config(pull, f'[pull]\nautonomy = "{NEVER}"\nrisk = "aggressive"\n')
    at = pull.start(chain(1))
    assert preferences(at) == ("guided", "conservative")
    assert [each["code"] for each in at.data["warnings"]] == ["PREFERENCES_NOT_USED", "WORKS_IN_PLACE"]
    TrustStore(here(pull.workspace, pull.environ).folders).trust_snapshot(take(path))
    assert preferences(pull.start(chain(1))) == (NEVER, "aggressive")
    (pull.home / "config.toml").write_text('[pull]\nrisk = "balanced"\n', "utf-8")
    assert preferences(pull.start(chain(1))) == (NEVER, "balanced")


def test_an_agent_cannot_set_them(pull: Pull) -> None:
    name = pull.add(chain(1))
    sent = {"workflowId": name, "workspacePath": str(pull.workspace), "goal": "go"}
    assert pull.call("start_workflow", **sent, autonomy=NEVER).code == "VALIDATION_ERROR"
    at = pull.start(chain(1), autonomy=NEVER, riskPolicy="aggressive")
    assert preferences(at) == ("guided", "conservative")
    assert pull.advance(at, notes="", context={"autonomy": NEVER}).codes == ["MISSING_REQUIRED_NOTES"]


def test_a_user_sets_them_for_a_run_and_the_gaps_are_told_at_the_end(pull: Pull) -> None:
    at = pull.start(chain(2))
    prefer(pull.writer, at.run, PreferenceChange(by="ann", autonomy=NEVER))
    taken_up(pull)
    at = pull.advance(at, notes="")
    assert (at.address, preferences(at)) == ("step-2", (NEVER, "conservative"))
    done = pull.advance(at)
    assert done.complete
    assert [(each["severity"], each["message"]) for each in done.data["gaps"]] == [("critical", "the step needs notes")]
    assert "critical: the step needs notes (step step-1)" in done.text
    assert run_document(pull.log, at.run)["preferences"] == {"autonomy": NEVER, "risk": "conservative"}
    told = [each.what for each in explain(pull.log, at.run)]
    assert "ann prefers autonomy full_auto_never_stop, risk conservative" in told
    assert "continues with a gap (critical): the step needs notes" in told
    pull.assert_sound()


def test_going_back_is_no_way_around_what_the_user_prefers_now(pull: Pull) -> None:
    (pull.home / "config.toml").write_text(f'[pull]\nautonomy = "{NEVER}"\n', "utf-8")
    first = pull.start(chain(2))
    pull.advance(first)
    prefer(pull.writer, first.run, PreferenceChange(by="ann", autonomy="guided"))
    taken_up(pull)
    branch = pull.advance(pull.rehydrate(first), notes="")
    assert branch.run != first.run
    assert (branch.codes, preferences(branch)) == (["MISSING_REQUIRED_NOTES"], ("guided", "conservative"))
    pull.assert_sound()


def test_a_confirmation_is_waited_for_unless_the_run_never_stops(pull: Pull) -> None:
    flow = definition(step("one", requireConfirmation=True), step("two"))
    at = pull.start(flow)
    assert at.data["nextIntent"] == "await_user_confirmation"
    said_no = pull.advance(at, artifacts=[{"kind": "wr.confirmation", "confirmed": False}])
    assert said_no.codes == ["USER_ONLY_DEPENDENCY"]
    unsaid = pull.advance(said_no)
    assert (unsaid.codes, unsaid.data["retryable"]) == (["USER_ONLY_DEPENDENCY"], True)
    yes = {"kind": "wr.confirmation", "confirmed": True, "by": "ann"}
    assert pull.advance(unsaid, artifacts=[yes]).address == "two"
    kept: Any = pull.state(at.run).steps["one"].output
    assert kept["confirmation"] == {"asked": "user", "confirmed": True, "by": "ann", "told_by": held_by(pull, at.run)}
    (pull.home / "config.toml").write_text(f'[pull]\nautonomy = "{NEVER}"\n', "utf-8")
    at = pull.start(flow)
    assert at.data["nextIntent"] == "perform_pending_then_continue"


def test_a_required_capability_is_asked_for_with_the_artifact_that_answers(pull: Pull) -> None:
    at = pull.start(definition(step("one"), step("two"), capabilities={"web_browsing": "required"}))
    assert "web_browsing" in at.text
    blocked = pull.advance(at)
    assert (blocked.codes, blocked.data["retryable"]) == (["REQUIRED_CAPABILITY_UNKNOWN"], True)
    again = pull.advance(blocked, artifacts=[blocked.data["blockers"][0]["example"]])
    assert again.address == "two"


def test_a_required_capability_that_lacks_is_passed_over_where_a_person_says_so_and_the_token_goes_on(
    pull: Pull,
) -> None:
    at = pull.start(definition(step("one"), step("two"), capabilities={"web_browsing": "required"}))
    blocked = pull.advance(at, artifacts=[seen("unavailable")])
    assert (blocked.codes, blocked.data["retryable"]) == (["REQUIRED_CAPABILITY_UNAVAILABLE"], True)
    assert f"handrail prefer {at.run} --risk aggressive" in blocked.text
    assert pull.advance(at, artifacts=[seen("unavailable")]).data == blocked.data
    prefer(pull.writer, at.run, PreferenceChange(by="ann", risk="aggressive"))
    resume(pull.writer, at.run, "ann")
    taken_up(pull)
    at = pull.advance(blocked)
    assert at.address == "two"
    done = pull.advance(at, artifacts=[seen("available")])
    assert [(gap["about"], gap["resolved"]) for gap in run_gaps(pull, at.run)] == [("web_browsing", True)]
    assert "# Gaps" not in done.text
    pull.assert_sound()


def held_by(pull: Pull, run: str) -> str:
    return pull.state(run).held_by


def run_gaps(pull: Pull, run: str) -> Any:
    return run_document(pull.log, run)["gaps"]


def test_results_of_work_handed_on_come_in_one_by_one_and_a_token_gives_its_own_answer_again(pull: Pull) -> None:
    listed = [{"workflowId": "audit-a"}, {"workflowId": "audit-b"}]
    split = {"id": "split", "type": "parallel", "title": "Split", "parallelDelegations": listed}
    first = pull.start(definition(split, step("two")))
    second = pull.advance(first, notes=None, artifacts=[result(2)])
    assert (second.data["kind"], second.address) == ("ok", "split")
    assert "2. [reported] audit-b" in second.text
    refused = pull.advance(second)
    assert refused.data["blockers"][0]["message"] == "nothing was reported on 1 (audit-a)"
    assert pull.advance(first, notes=None, artifacts=[result(2)]).data == second.data
    third = pull.advance(refused, notes=None, artifacts=[result(1)])
    assert "All results are in" in third.text
    done = pull.advance(third, notes="Both agree.")
    assert done.address == "two"
    output: Any = pull.state(first.run).steps["split"].output
    assert [each["status"] for each in output["delegations"].values()] == ["done", "done"]
    pull.assert_sound()


def test_handrail_prefer_says_how_the_run_goes_on(pull: Pull, monkeypatch: pytest.MonkeyPatch) -> None:
    at = pull.start(chain(2))
    for name, value in pull.environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(pull.workspace)
    said = CliRunner().invoke(cli, ["prefer", at.run, "--risk", "balanced"])
    assert (said.exit_code, said.output) == snapshot((0, "sample-flow-1: autonomy guided, risk balanced\n"))
    assert pull.state(at.run).risk == "balanced"
    shown = CliRunner().invoke(cli, ["show", at.run])
    assert "prefers    autonomy guided, risk balanced" in shown.output
    both = CliRunner().invoke(cli, ["prefer", at.run, "--autonomy", NEVER, "--json"])
    assert json.loads(both.output) == {"run": at.run, "autonomy": NEVER, "risk": "balanced"}
    assert CliRunner().invoke(cli, ["prefer", at.run]).exit_code == 2


def test_a_human_approval_waits_for_a_person_who_may_send_the_step_back(pull: Pull) -> None:
    flow = definition(step("one", requireConfirmation={"kind": "human_approval"}), step("two"))
    at = pull.start(flow)
    assert at.data["nextIntent"] == "perform_pending_then_continue"
    waits = pull.advance(at, artifacts=[{"kind": "wr.confirmation", "confirmed": True, "by": "ann"}])
    assert (waits.codes, waits.data["retryable"]) == (["USER_ONLY_DEPENDENCY"], False)
    assert f"handrail approve {at.run}" in waits.text
    assert pull.advance(waits).codes == ["USER_ONLY_DEPENDENCY"], "no call of an agent approves anything"
    answer(pull.writer, at.run, "revise", "person:ann", "Say it shorter.")
    taken_up(pull)
    again = pull.rehydrate(waits)
    assert again.address == "one"
    assert "Say it shorter." in again.text
    waits = pull.advance(again, "Shorter.")
    answer(pull.writer, at.run, "approve", "person:ann")
    taken_up(pull)
    assert pull.rehydrate(waits).address == "two"
    kept: Any = pull.state(at.run).steps["one"].output
    assert (kept["confirmation"]["by"], kept["confirmation"]["confirmed"]) == ("person:ann", True)
    pull.assert_sound()


def test_a_step_that_a_person_rejected_is_not_the_agents_to_hand_in_again(pull: Pull) -> None:
    at = pull.start(definition(step("one", requireConfirmation={"kind": "human_approval"}), step("two")))
    waits = pull.advance(at)
    answer(pull.writer, at.run, "reject", "person:ann", "Never.")
    taken_up(pull)
    after = pull.rehydrate(waits)
    assert not after.data["retryable"]
    size = pull.size()
    assert pull.advance(after).address is None
    assert pull.size() == size
