"""What programs may rely on: the exported names with their fields and parameters, and what importing them costs."""

import inspect
import subprocess
import sys
from dataclasses import fields, is_dataclass
from typing import Any, get_args

import pytest
from inline_snapshot import snapshot

import handrail
import handrail.client
from handrail.client import Client, Run, RunEvent, StartOptions, open_client
from handrail.client.events import EventPlace

PLACE = [each.name for each in fields(EventPlace)]


def _shape(name: str) -> str:
    """Describe what a program sees of a name: the fields of a value, the members of a union."""
    found: Any = getattr(handrail.client, name)
    if is_dataclass(found):
        own = [each.name for each in fields(found)]
        return " ".join(own[len(PLACE) :] if own[: len(PLACE)] == PLACE else own)
    return " | ".join(str(getattr(each, "__name__", each)) for each in get_args(found))


def _methods(cls: type) -> dict[str, str]:
    """Describe the parameters of the methods of a class, with their defaults."""
    found = {name: each for name, each in vars(cls).items() if not name.startswith("_") and inspect.isfunction(each)}
    return {name: _parameters(each) for name, each in found.items()}


def _parameters(function: Any) -> str:
    every = inspect.signature(function).parameters.values()
    return ", ".join(str(each.replace(annotation=inspect.Parameter.empty)) for each in every if each.name != "self")


def test_the_exported_names_with_their_fields_are_these() -> None:
    found = {name: _shape(name) for name in handrail.client.__all__}
    assert [name for name, shape in found.items() if not shape] == snapshot(
        ["Client", "InputValue", "Run", "StartOptions", "open_client"]
    )
    assert {name: shape for name, shape in found.items() if shape} == snapshot(
        {
            "Answered": "decision text by",
            "ApprovalRequested": "message show",
            "Drive": "here | background",
            "Finished": "run status message outputs cost branch worktree pull_requests",
            "Happened": "kind text data",
            "NeedKind": "approval | question | budget | blocked | paused | held | interrupted",
            "NeedsPerson": "run kind step message next_step answers show",
            "PullRequest": "number url status draft title branch base",
            "QuestionAsked": "question",
            "RunBlocked": "reason message next_step",
            "RunEnded": "status message",
            "RunEvent": (
                "RunStarted | StepStarted | StepEnded | ApprovalRequested | QuestionAsked | Answered | RunWaiting"
                " | RunBlocked | RunEnded | Happened"
            ),
            "RunLine": "run state status step message next_step started_at",
            "RunListState": "needs-you | paused | waiting | running | ended | succeeded | failed | cancelled",
            "RunResult": "Finished | NeedsPerson",
            "RunStarted": "workflow task by",
            "RunState": (
                "run workflow status reason step need outputs branch worktree issue parent started_at ended_at"
                " pull_requests"
            ),
            "RunStatus": "queued | running | waiting | blocked | succeeded | failed | cancelled",
            "RunWaiting": "reason message until",
            "Spending": "usd tokens agent_calls unpriced seconds estimated",
            "StepEnded": "status output error cost",
            "StepStarted": "attempt agent",
        }
    )
    assert snapshot(["position", "run", "inner", "step", "at"]) == PLACE


def test_the_methods_of_clients_and_runs_are_these() -> None:
    assert _methods(Client) == snapshot(
        {"start": "workflow='', **options", "get": "run, drive='here'", "runs": "states=(), workflow=None", "close": ""}
    )
    assert _methods(Run) == snapshot(
        {
            "events": "after=0",
            "state": "",
            "result": "",
            "approve": "comment=''",
            "revise": "text",
            "reject": "reason=''",
            "answer": "text",
            "resume": "",
            "stop": "reason=''",
        }
    )
    assert list(StartOptions.__annotations__) == snapshot(
        ["task", "issue", "inputs", "agent", "model", "script", "base", "in_place", "cwd", "drive"]
    )
    assert _parameters(open_client) == snapshot("cwd=None")


@pytest.mark.parametrize("name", handrail.client.__all__)
def test_everything_that_programs_get_is_documented_and_values_are_frozen(name: str) -> None:
    found: Any = getattr(handrail.client, name)
    assert not isinstance(found, type) or found.__doc__
    if is_dataclass(found):
        with pytest.raises(AttributeError):
            setattr(object.__new__(found), fields(found)[0].name, 1)  # type: ignore[arg-type]


def test_an_event_is_one_of_the_exported_values() -> None:
    assert {each.__name__ for each in get_args(RunEvent)} <= set(handrail.client.__all__)


def test_handrail_open_is_loaded_when_it_is_asked_for() -> None:
    assert handrail.open is open_client
    assert "open" in dir(handrail)
    assert "open" not in handrail.__all__, "`from handrail import *` must leave the built-in one alone"


def test_importing_handrail_loads_nothing_else() -> None:
    code = "import sys, handrail; print(*sorted(each for each in sys.modules if each.startswith('handrail')))"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["handrail"]
