"""The page about workflows in Python is true: its code runs, and its table names every object."""

import asyncio
import inspect
import re
from dataclasses import fields, is_dataclass
from typing import Any

import pytest

import handrail
from handrail import ResolveContext
from handrail.authoring.native.schema import WORKFLOW
from handrail.authoring.python.tree import build_document
from handrail.authoring.shapes.conform import conform
from handrail.model.diagnostics import Report
from handrail.model.history.events import StepBegan
from handrail.model.source import Bundle, SourceText, plain
from handrail.operations.runs import lifecycle as runs
from handrail.operations.views.run_tree import family
from handrail.operations.views.step_addresses import list_addresses
from handrail.runtime.history import events_of
from support.places import ROOT
from support.runtime.flow_home import Flows, flows

__all__ = ["flows"]

PAGE = (ROOT / "docs" / "python-workflows.md").read_text(encoding="utf-8")
WRITTEN = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
FLOWS = [code for code in WRITTEN if "async def run(" in code]
BLOCKS = [code for code in WRITTEN if code not in FLOWS]


def _resolved(code: str, context: ResolveContext) -> Any:
    names: dict[str, Any] = {"__name__": "handrail_workflow_1"}
    exec(compile(code, "workflow.py", "exec"), names)
    made: Any = names["resolve"](context)
    if inspect.iscoroutine(made):
        made = asyncio.run(made)
    report = Report()
    document = build_document(made, Bundle("workflow.py", {"workflow.py": SourceText("workflow.py", code)}), report)
    assert document is not None
    conform(WORKFLOW, document.root, report)
    assert list(report) == []
    return plain(document.root)


@pytest.mark.parametrize("code", BLOCKS, ids=range(len(BLOCKS)))
@pytest.mark.parametrize("labels", [(), ("needs-review", "try-v2")], ids=["unlabelled", "labelled"])
def test_every_example_gives_a_workflow_of_the_format(code: str, labels: tuple[str, ...]) -> None:
    assert _resolved(code, ResolveContext(labels=labels))["steps"]


def test_a_label_adds_a_step() -> None:
    code = next(code for code in BLOCKS if "needs-review" in code)
    assert [step["name"] for step in _resolved(code, ResolveContext())["steps"]] == ["plan", "build"]
    labelled = _resolved(code, ResolveContext(labels=("needs-review",)))
    assert [step["name"] for step in labelled["steps"]] == ["plan", "agree", "build"]


def test_a_label_chooses_a_version_of_a_prompt() -> None:
    code = next(code for code in BLOCKS if "try-v2" in code)
    assert _resolved(code, ResolveContext())["steps"][0]["prompt"] == "prompts/10-coding.md"
    labelled = _resolved(code, ResolveContext(labels=("try-v2",)))
    assert labelled["steps"][0]["prompt"] == "versions/10-coding.v2.md"


def _flow(flows: Flows, what: str, script: str, *labels: str) -> str:
    """Start the flow of the page that has these words in it, with all that it names around it."""
    code = next(code for code in FLOWS if what in code)
    (flows.home.shop / "Makefile").write_text("test:\n\ttest -e fixed\n")
    folder = flows.home.shop / ".handrail" / "workflows" / "flowing"
    (folder / "versions").mkdir(parents=True)
    (folder / "versions" / "10-coding.v2.md").write_text("Write it, as the second version says.\n")
    prompts = ("05-planning", "10-coding", "debugger", "builder")
    flows.write(code, **{name: f"The prompt {name}." for name in prompts})
    return flows.start_with_agents(script, labels=list(labels))


def test_the_first_flow_lets_an_agent_repair_until_the_checks_pass(flows: Flows) -> None:
    run = _flow(
        flows,
        "attempt in range",
        """\
        flow/coding: [{say: coded}]
        flow/repair: [{say: not yet}, {expect_prompt: The checks failed, files: {fixed: "yes"}, say: done}]
        """,
    )
    assert flows.drive(run).status == "succeeded"
    assert flows.result(run) == {"attempts": 3}
    shown = [f"flow/{name}" for name in ("coding", "checks", "repair", "checks#2", "repair#2", "checks#3")]
    assert sorted(each for each in list_addresses(flows.home.log, run) if "/" in each) == sorted(shown)


@pytest.mark.parametrize("labels", [(), ("needs-review", "Bug")], ids=["unlabelled", "labelled"])
def test_the_second_flow_chooses_prompts_models_and_whom_to_ask(flows: Flows, labels: tuple[str, ...]) -> None:
    run = _flow(flows, "resolve_prompt", "default: {say: done, repeat: true}", *labels)
    state = flows.drive(run)
    if labels:
        assert state.reason == "approval"
        runs.answer(flows.home.writer, run, "revise", "me", "another way")
        state = flows.drive(run)
    assert state.status == "succeeded", state.message
    said = {"approved": False, "feedback": "another way"} if labels else {"approved": True, "plan": "done"}
    assert flows.result(run) == said
    (call,) = [
        event
        for each in family(flows.home.log, run)
        for _, event in events_of(flows.home.log, each)
        if isinstance(event, StepBegan) and event.address == "flow/coding"
    ]
    assert call.spec["prompt_file"] in ("prompts/10-coding.md", "versions/10-coding.v2.md")
    assert f"The prompt {'debugger' if labels else 'builder'}." in str(call.spec["system_prompt"])


@pytest.mark.parametrize("found", [True, False], ids=["reproduced", "not reproduced"])
def test_the_third_flow_has_its_proof_or_asks(flows: Flows, *, found: bool) -> None:
    test = 'files: {tests/test_bug.py: "x"}, ' if found else ""
    run = _flow(
        flows,
        "reproduce",
        f"""\
        flow/reproduce: {{{test}output: {{test: tests/test_bug.py}}, repeat: true}}
        flow/fix: {{say: fixed}}
        flow/checks/fix: {{files: {{fixed: "yes"}}, say: done}}
        """,
    )
    state = flows.drive(run)
    if found:
        assert flows.result(run) == {"reproduced": True, "test": "tests/test_bug.py", "checked": True}
        return
    assert state.reason == "question"
    runs.answer_in_words(flows.home.writer, run, "a log", "me")
    flows.drive(run)
    assert flows.result(run) == {"reproduced": False, "said": "a log"}


def _table() -> dict[str, str]:
    rows = PAGE.partition("## The objects")[2].partition("A type checker")[0]
    firsts = [row.split("|")[1] for row in rows.splitlines() if row.startswith("| `")]
    return dict(re.findall(r"`(\w+)(?:\(([^)]*)\))?`", "".join(firsts)))


def test_the_table_names_every_exported_object() -> None:
    assert set(_table()) == set(handrail.__all__) - {"__version__"}


def _positional(made: Any) -> list[str]:
    """What may be given by position; a class of data has its signature only when the first of a kind was made."""
    if is_dataclass(made):
        return [each.name for each in fields(made) if each.init and not each.kw_only]
    parameters = inspect.signature(made).parameters.values()
    return [each.name for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]


@pytest.mark.parametrize(("name", "shown"), _table().items())
def test_the_table_shows_what_is_given_by_position(name: str, shown: str) -> None:
    positional = _positional(getattr(handrail, name))
    listed = [word for word in shown.split(", ") if word and not word.endswith("=...")]
    if name not in ("Step", "FlowContext"):
        assert positional[: len(listed)] == listed
        assert all(getattr(handrail, name).__dataclass_fields__[word] for word in listed)
        assert len(listed) == len(positional) or name == "Subroutine"
