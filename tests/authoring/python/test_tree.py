"""What resolve() returned becomes the tree that the YAML reader gives, or a diagnostic at the line that made it."""

from collections import OrderedDict
from dataclasses import dataclass, replace
from enum import IntEnum, StrEnum
from typing import Any

from inline_snapshot import snapshot

from handrail.authoring.native.schema import WORKFLOW
from handrail.authoring.python.objects import (
    Agent,
    Approval,
    Commit,
    Gate,
    Input,
    IssueTrigger,
    Loop,
    Procedure,
    PullRequest,
    PullRequestTrigger,
    Review,
    Schedule,
    Script,
    Step,
    Subroutine,
    Unchanged,
    Workflow,
)
from handrail.authoring.python.objects import Report as JunitReport
from handrail.authoring.python.tree import build_document
from handrail.authoring.shapes.conform import conform
from handrail.model.diagnostics import Report
from handrail.model.source import Bundle, Document, SourceText, plain

SHOWN = "fix-bug/workflow.py"


def _bundle(text: str = "WORKFLOW = ...\n") -> Bundle:
    return Bundle("workflow.py", {"workflow.py": SourceText(SHOWN, text)})


def _document(workflow: object, text: str = "WORKFLOW = ...\n") -> Document:
    report = Report()
    document = build_document(workflow, _bundle(text), report)
    assert list(report) == []
    assert document is not None
    return document


def _plain(workflow: object) -> Any:
    return plain(_document(workflow).root)


def _step(step: Step) -> Any:
    return _plain(Workflow("w", steps=[step]))["steps"][0]


def test_a_check_is_a_map_where_more_than_its_globs_is_given() -> None:
    checks = [Unchanged("a"), Unchanged(["a", "b"], ignored=True), Unchanged("a", ignored=False)]
    assert _step(Agent("a", prompt="Do it.", done_when=checks))["done_when"] == [
        {"unchanged": "a"},
        {"unchanged": {"paths": ["a", "b"], "ignored": True}},
        {"unchanged": {"paths": "a", "ignored": False}},
    ]


def test_a_workflow_becomes_a_native_document_of_the_python_form() -> None:
    bundle = _bundle()
    document = build_document(Workflow("w", steps=[Script("a", command="true")]), bundle, Report())
    assert document is not None
    assert (document.form, document.dialect) == ("python", "native")
    assert document.bundle is bundle
    assert plain(document.root) == {"name": "w", "steps": [{"name": "a", "type": "script", "command": "true"}]}


def test_keys_come_with_the_name_first_then_the_type_then_in_the_order_of_the_class() -> None:
    step = _step(Agent("fix", prompt="coding", agent="claude", when=True, retry=2))
    assert list(step) == ["name", "type", "agent", "when", "retry", "prompt"]


def test_what_is_left_out_stays_out_and_what_is_said_stays_in() -> None:
    assert _step(PullRequest("pr", title="t", draft=False, labels=[])) == {
        "name": "pr",
        "type": "pull-request",
        "title": "t",
        "draft": False,
        "labels": [],
    }


def test_words_that_python_reserves_get_their_own_name_back() -> None:
    loop = Loop("l", while_="x", for_=3, for_each="${xs}", as_="x", max_iterations=3, steps=[])
    assert list(_step(loop)) == ["name", "type", "while", "for", "for_each", "as", "max_iterations", "steps"]


def test_a_trigger_with_labels_stands_under_its_kind() -> None:
    workflow = Workflow(
        "w", trigger=["manual", Schedule("0 3 * * *"), IssueTrigger(["bug"]), PullRequestTrigger()], steps=[]
    )
    assert _plain(workflow)["trigger"] == [
        "manual",
        {"schedule": "0 3 * * *"},
        {"issue": {"labels": ["bug"]}},
        {"pull_request": {}},
    ]


def test_a_test_report_stands_under_its_key() -> None:
    step = _step(Script("t", command="make test", done_when=[JunitReport("out.xml", min_tests=3)]))
    assert step["done_when"] == [{"report": {"junit": "out.xml", "min_tests": 3}}]


def test_inputs_may_be_a_dict_or_a_list() -> None:
    as_dict = Workflow("w", input={"issue": "issue", "n": Input(type="int", default=3)}, steps=[])
    assert _plain(as_dict)["input"] == {"issue": "issue", "n": {"type": "int", "default": 3}}
    as_list = Workflow("w", input=["a", Input("b", required=False)], steps=())
    assert _plain(as_list)["input"] == ["a", {"name": "b", "required": False}]


def test_dicts_and_objects_may_be_mixed() -> None:
    workflow = {"name": "w", "steps": [Gate("g", checks={"t": "make"}, fix={"prompt": "p"}), {"name": "x"}]}
    assert _plain(workflow)["steps"] == [
        {"name": "g", "type": "gate", "checks": {"t": "make"}, "fix": {"prompt": "p"}},
        {"name": "x"},
    ]


def test_a_list_of_prompts_becomes_a_workflow_of_agent_steps() -> None:
    summary = Subroutine(
        "summary",
        "prompts/40-summary.md",
        "Brief summary",
        single_turn=True,
        requires_approval=True,
        suppress_thought_posting=True,
        disallowed_tools=("Edit", "Write"),
    )
    procedure = Procedure("full", "All of it", [Subroutine("coding", "prompts/10-coding.md"), summary])
    document = _document(procedure)
    assert plain(document.root) == snapshot(
        {
            "name": "full",
            "description": "All of it",
            "steps": [
                {"name": "coding", "type": "agent", "prompt": "prompts/10-coding.md"},
                {
                    "name": "summary",
                    "type": "agent",
                    "prompt": "prompts/40-summary.md",
                    "description": "Brief summary",
                    "single_turn": True,
                    "requires_approval": True,
                    "suppress_thoughts": True,
                    "disallowed_tools": ["Edit", "Write"],
                },
            ],
        }
    )
    report = Report()
    conform(WORKFLOW, document.root, report)
    assert list(report) == []


def test_a_prompt_path_can_be_exchanged_for_a_version_without_touching_the_rest() -> None:
    procedure = Procedure("full", "", [Subroutine("coding", "prompts/10-coding.md"), Subroutine("git", "git")])
    paths = {"coding": "versions/10-coding.v2.md"}
    swapped = [replace(each, prompt_path=paths.get(each.name, each.prompt_path)) for each in procedure.subroutines]
    steps = _plain(replace(procedure, subroutines=swapped))["steps"]
    assert [step["prompt"] for step in steps] == ["versions/10-coding.v2.md", "git"]


def test_values_of_subclasses_become_plain_values() -> None:
    class Word(StrEnum):
        ON = "on"

    class Level(IntEnum):
        TWO = 2

    class Ratio(float):
        pass

    found = _plain(OrderedDict[str, object](a=Word.ON, b=Level.TWO, c=Ratio(0.5), d=(1, None)))
    assert found == {"a": "on", "b": 2, "c": 0.5, "d": [1, None]}
    assert [type(found[key]) for key in "abc"] == [str, int, float]


def test_a_subclass_of_the_author_is_the_step_it_derives_from() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Careful(Agent):
        access: Any = "read"

    assert _step(Careful("a", prompt="p", access="edit")) == {
        "name": "a",
        "type": "agent",
        "access": "edit",
        "prompt": "p",
    }


def test_commits_and_reviews_and_approvals_keep_their_own_keys() -> None:
    steps = [Commit("c", message="m", paths="src"), Review("r", max_iterations=2), Approval("a", show=["diff"], max=1)]
    report = Report()
    conform(WORKFLOW, _document(Workflow("w", steps=steps)).root, report)
    assert list(report) == []
