"""Agents that are missing or stay overloaded are replaced, and runs on one account wait for its limit together."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from handrail.agents.played.scripted import ScriptedAgent
from handrail.agents.registry import BUILT_IN
from handrail.errors import NotFound
from handrail.model.history.events import RetryScheduled, StepBegan, StepEnded
from handrail.model.workflow.settings import AgentPolicy, Limits
from handrail.operations.runs import lifecycle as runs
from handrail.operations.views.explain import explain
from handrail.ports.agents import Abilities, Agent, AgentCall, Launch
from handrail.runtime.handlers.agents.account_limits import AccountLimit, AccountLimits
from support.runtime.room import of_kind
from support.runtime.steps_room import Hand, StepsRoom


class Vendor(ScriptedAgent):
    """The scripted agent under another name, with an account."""

    def __init__(self, name: str, can: Abilities | None = None) -> None:
        self._name = name
        self._can = can or ScriptedAgent().can

    @property
    def name(self) -> str:
        return self._name

    @property
    def can(self) -> Abilities:
        return self._can

    @property
    def variables(self) -> tuple[str, ...]:
        return ("MAIN_*",)


class Missing(Vendor):
    """An agent whose program is not there."""

    def launch(self, call: AgentCall, folder: str) -> Launch:  # noqa: ARG002 (the port has them)
        raise NotFound(f"the agent '{self.name}' is not installed", next_step="install it")


def vendor(name: str, can: Abilities | None = None) -> Callable[[], Agent]:
    return lambda: Vendor(name, can)


@pytest.fixture(autouse=True)
def staff(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("main", "spare"):
        monkeypatch.setitem(BUILT_IN, name, vendor(name))
    monkeypatch.setitem(BUILT_IN, "absent", lambda: Missing("absent"))
    monkeypatch.setitem(BUILT_IN, "loose", vendor("loose", replace(ScriptedAgent().can, tools=False)))


@pytest.fixture
def hand(shop: StepsRoom) -> Hand:
    hand = Hand()
    shop.clock, shop.agent = hand, ""
    return hand


def case(*steps: str) -> str:
    return "name: case\ndescription: a case\nsteps:\n" + "".join(f"  - {each}\n" for each in steps)


ONE = case("{name: one, prompt: Do the thing., output: said}")
DONE = {"say": "Done.", "output": "done"}


def failing(status: str, **more: Any) -> dict[str, Any]:
    return {"fail": {"status": status, "message": f"it is {status}", **more}}


def performers(shop: StepsRoom, run: str) -> list[str]:
    return [str(each.spec["agent"]) for each in of_kind(shop.log, run, StepBegan)]


def test_an_agent_that_is_not_installed_is_replaced_without_a_try(shop: StepsRoom, hand: Hand) -> None:
    shop.agents = AgentPolicy("absent", "usual", ("unknown-too", "spare/small"))
    state = shop.run(ONE, {"one": [{**DONE, "repeat": True}]})
    assert (state.status, state.steps["one"].attempts, state.steps["one"].agent) == ("succeeded", 1, "spare")
    assert performers(shop, state.run) == ["absent", "unknown-too", "spare"]
    ended = of_kind(shop.log, state.run, StepEnded)
    assert ended[0].error == "the agent 'absent' is not installed"
    last = shop.calls(state.run, "one")[-1]
    assert (last.spec["model"], last.spec["chosen"]) == ("small", "fallback 2 of 2, since absent could not do it")
    said = [each.what for each in explain(shop.log, state.run)]
    assert "ran because the run began, by absent (usual)" in said
    assert hand.now == shop.clock()


def test_the_last_agent_that_is_missing_blocks_the_run_and_a_resume_begins_with_the_first(
    shop: StepsRoom, hand: Hand
) -> None:
    shop.agents = AgentPolicy("absent", "usual", ("absent/other",))
    state = shop.run(ONE, {"one": [DONE]})
    assert (state.status, state.message) == ("blocked", "step 'one': the agent 'absent' is not installed")
    assert (state.next_step, hand.now) == ("install it", shop.clock())
    state = shop.resume(state.run)
    models = [each.spec.get("model") for each in shop.calls(state.run, "one")]
    assert models == [None, "other", None, "other"]


def test_an_overload_is_waited_for_and_then_another_agent_is_turned_to(shop: StepsRoom, hand: Hand) -> None:
    shop.agents = AgentPolicy("main", "usual", ("spare",))
    run = shop.start(ONE, {"one": [*[failing("overloaded", retry_after=7)] * 4, DONE]})
    for _ in range(3):
        shop.drive()
        assert shop.state(run).status == "waiting"
        hand.now += 7
    shop.drive()
    assert shop.state(run).status == "succeeded"
    assert performers(shop, run) == ["main"] * 4 + ["spare"]
    assert len(of_kind(shop.log, run, RetryScheduled)) == 3


def test_a_model_that_is_not_there_is_replaced_and_any_other_error_is_a_failed_try(shop: StepsRoom, hand: Hand) -> None:
    shop.agents = AgentPolicy("main/big", "usual", ("main/small",))
    gone = {"fail": {"status": "api_error", "message": "The model big does not exist or you have no access to it."}}
    state = shop.run(ONE, {"one": [gone, DONE]})
    assert (state.status, state.steps["one"].attempts) == ("succeeded", 1)
    assert [each.spec["model"] for each in shop.calls(state.run, "one")] == ["big", "small"]
    state = shop.run(ONE, {"one": [failing("api_error"), DONE]})
    assert (state.status, performers(shop, state.run), hand.now) == ("blocked", ["main"], shop.clock())


def test_a_conversation_stays_with_its_agent(shop: StepsRoom, hand: Hand) -> None:
    shop.agents = AgentPolicy("main/big", "usual", ("spare",))
    text = case("{name: one, prompt: Begin the work.}", "{name: two, prompt: Go on with it., session: one}")
    gone = {"fail": {"status": "api_error", "message": "model_not_found"}}
    state = shop.run(text, {"one": [gone, DONE], "two": [{**DONE, "repeat": True}]})
    assert (state.status, hand.now) == ("succeeded", shop.clock())
    assert performers(shop, state.run) == ["main", "spare", "main"]
    (two,) = shop.calls(state.run, "two")
    assert two.spec["session"] == ""
    assert state.steps["one"].session


def test_a_step_that_asks_what_its_own_agent_cannot_do_is_not_given_to_another(shop: StepsRoom, hand: Hand) -> None:
    shop.agents = AgentPolicy("loose", "usual", ("spare",))
    state = shop.run(case("{name: one, prompt: Do it., disallowed_tools: [Bash]}"), {"one": [DONE]})
    assert (state.status, hand.now) == ("blocked", shop.clock())
    assert "cannot be enforced" in state.message


def test_a_fallback_that_cannot_do_what_is_asked_is_passed_over(shop: StepsRoom, hand: Hand) -> None:
    shop.agents = AgentPolicy("absent", "usual", ("loose", "spare"))
    step = "{name: one, prompt: Do it., disallowed_tools: [Bash]}"
    state = shop.run(case(step), {"one": [{**DONE, "repeat": True}]})
    assert (state.status, performers(shop, state.run)) == ("succeeded", ["absent", "loose", "spare"])
    assert hand.now == shop.clock()


def test_a_role_of_a_review_gets_the_fallback_too(shop: StepsRoom, hand: Hand) -> None:
    shop.agents = AgentPolicy("absent", "usual", ("spare",))
    text = case("{name: look, type: agent-loop, reviewer: Look at it., fixer: Repair it.}")
    state = shop.run(text, {"look/reviewer": [{"output": {"findings": []}, "repeat": True}]})
    assert (state.status, performers(shop, state.run)) == ("succeeded", ["absent", "spare"])
    assert hand.now == shop.clock()


QUOTA = {"one": [failing("quota", retry_after=600), {**DONE, "repeat": True}]}
FREE = {"one": [{**DONE, "repeat": True}]}


def test_runs_on_one_account_wait_for_its_limit_together_without_a_call(shop: StepsRoom, hand: Hand) -> None:
    shop.agents = AgentPolicy("main", "usual")
    first = shop.run(ONE, QUOTA).run
    hand.now += 100
    second = shop.run(ONE, FREE)
    assert (second.status, second.reason, second.until) == ("waiting", "quota", hand.now + 500)
    assert second.message == f"main is at its usage limit, as {first} found: it is quota"
    assert (second.spent.agent_calls, second.steps["one"].attempts) == (0, 1)
    shop.agents = AgentPolicy("spare", "usual")
    assert shop.run(ONE, FREE).status == "succeeded"
    hand.now += 500
    shop.drive()
    assert [shop.state(each).status for each in (first, second.run)] == ["succeeded"] * 2
    assert not list((shop.folder / "data" / "limits").iterdir())


def test_another_account_of_the_same_agent_is_not_held(
    shop: StepsRoom, hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.agents = AgentPolicy("main", "usual")
    monkeypatch.setenv("MAIN_KEY", "sk-one-secret")
    shop.run(ONE, QUOTA)
    (note,) = (shop.folder / "data" / "limits").iterdir()
    assert "secret" not in note.name + note.read_text()
    monkeypatch.setenv("MAIN_KEY", "sk-two")
    assert shop.run(ONE, FREE).status == "succeeded"
    monkeypatch.setenv("MAIN_KEY", "sk-one-secret")
    assert (shop.run(ONE, FREE).status, hand.now) == ("waiting", shop.clock())


@pytest.mark.parametrize(("limits", "first"), [("own", "waiting"), ("ask", "blocked")])
def test_runs_may_wait_alone_or_ask_a_person(shop: StepsRoom, hand: Hand, limits: Limits, first: str) -> None:
    shop.agents = AgentPolicy("main", "usual", limits=limits)
    assert shop.run(ONE, QUOTA).status == first
    assert (shop.run(ONE, FREE).status, hand.now) == ("succeeded", shop.clock())


def test_who_met_the_limit_tries_again_when_it_is_resumed(shop: StepsRoom, hand: Hand) -> None:
    shop.agents = AgentPolicy("main", "usual")
    first = shop.run(ONE, QUOTA).run
    runs.resume(shop.writer, first, "ann")
    shop.drive()
    assert (shop.state(first).status, hand.now) == ("succeeded", shop.clock())
    assert shop.run(ONE, FREE).status == "succeeded"


def test_a_note_that_cannot_be_read_holds_nobody(shop: StepsRoom) -> None:
    limits = AccountLimits(shop.folder / "notes")
    limits.note("a", AccountLimit("main", 50.0, "case-1", "no more"))
    assert limits.find_limit("a", "case-2", 49.0) == AccountLimit("main", 50.0, "case-1", "no more")
    assert limits.find_limit("a", "case-2", 50.0) is None
    assert limits.find_limit("a", "case-1", 49.0) is None
    assert limits.list_active(0.0) == (AccountLimit("main", 50.0, "case-1", "no more"),)
    for text in ("", "[]", "{}", '{"agent": 1, "until": "soon", "run": "", "message": ""}', "\xff"):
        (shop.folder / "notes" / "a.json").write_text(text, encoding="latin-1")
        assert limits.find_limit("a", "case-2", 0.0) is None
    limits.lift("a")
    limits.lift("a")
    (shop.folder / "file").write_text("")
    AccountLimits(shop.folder / "file").note("a", AccountLimit("main", 50.0, "case-1", "no more"))
