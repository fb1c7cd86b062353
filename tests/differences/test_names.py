"""Names that prompts and commands may use, and prompts that stay what they were."""

import pytest

from handrail.errors import InvalidWorkflow
from handrail.operations.runs.prepare import RunOptions, pin, prepare
from support.differences.proofs import Benches, flow, guided, step

ISSUE = '{"id": "7", "title": "The fence is dull", "body": "Paint it blue.", "labels": ["garden"]}'


def test_a_prompt_knows_the_step_before_it(both: Benches) -> None:
    asks = {"name": "ask", "prompt": "After {{ previous_step.name }} said {{ previous_step.output }}, go on."}
    found = both(flow({"name": "first", "command": "printf blue"}, asks))
    assert "After first said blue, go on." in found.prompt.replace("`", "")


def test_an_agent_is_told_title_text_and_labels_of_the_issue(run: Benches) -> None:
    asks = {"name": "work", "prompt": "Do what the issue says."}
    told = run(flow(asks, input={"issue": "issue"}), f"issue={ISSUE}").prompt
    for words in ("The fence is dull", "Paint it blue.", "garden"):
        assert words in told


def test_a_changed_prompt_counts_for_the_next_run_and_a_run_keeps_its_own(run: Benches) -> None:
    bench = run.bench(prompts={"paint": "Paint it blue."})
    text = flow({"name": "ok", "type": "approval"}, {"name": "work", "prompt": "paint"})
    first = bench.run(text)
    bench.prompts = {"paint": "Paint it green."}
    second = bench.run(text)
    assert (first.run, second.run) == ("case-1", "case-2")
    first.answer("approve")
    assert "Paint it blue." in first.prompt
    second.answer("approve")
    assert "Paint it green." in second.prompts[-1]


def test_references_are_part_of_the_hash_and_their_contents_are_not(run: Benches) -> None:
    reference = {"id": "api", "title": "API", "source": "api.json", "purpose": "the contract", "authoritative": True}

    def digest(content: str, **more: str) -> str:
        bench = run.bench(files={"api.json": content})
        return pin(bench.place, bench.add(guided(step(), references=[{**reference, **more}]))).definition

    assert digest("{}") == digest('{"other": 1}')
    assert digest("{}") != digest("{}", title="Other API")


def test_a_workflow_in_a_folder_of_another_name_is_not_started(run: Benches) -> None:
    bench = run.bench()
    bench.add(flow({"name": "say", "command": "echo hello"}), "other")
    with pytest.raises(InvalidWorkflow) as refused:
        prepare(bench.machine, bench.place, RunOptions("other", folder=str(bench.work)))
    assert [each.code for each in refused.value.diagnostics] == ["folder-name"]


def test_a_value_that_a_role_lacks_is_named_with_its_step(run: Benches) -> None:
    review = {"name": "review", "type": "agent-loop", "prompt": "Look at {{ steps.first.output.colour }}."}
    found = run(flow({"name": "first", "command": "echo {}", "returns": "json"}, review), git=True)
    assert found.status == "blocked"
    assert "step 'review' cannot start" in found.told


def test_a_step_knows_its_own_name(both: Benches) -> None:
    asks = {"name": "ask", "prompt": "You are {{ current_step.name }}."}
    found = both(flow(asks, {"name": "say", "command": "echo ${current_step.name}"}))
    assert "You are ask." in found.prompt.replace("`", "")
    assert found.environments[-1]["HR_1"] == "say"
    other = both(flow({**asks, "name": "tell"}))
    assert "You are tell." in other.prompt.replace("`", "")


def test_the_environment_is_known_by_its_names(both: Benches, monkeypatch: pytest.MonkeyPatch) -> None:
    asks = {"name": "ask", "prompt": "It lies in {{ env.HOME }}."}
    for folder in ("/home/ann", "/home/bob"):
        monkeypatch.setenv("HOME", folder)
        found = both(flow(asks, {"name": "say", "command": "echo ${env.HOME}"}))
        assert f"It lies in {folder}." in found.prompt.replace("`", "")
        assert found.environments[-1]["HR_1"] == folder


def test_the_issue_of_a_run_is_known_by_its_name_and_to_the_run(run: Benches) -> None:
    asks = {"name": "ask", "prompt": "For {{ issue.title }}, {{ run.issue }}."}
    text = flow(asks, {"name": "say", "command": "echo ${issue.title} ${run.issue}"}, input={"bug": "issue"})
    found = run(text, f"bug={ISSUE}")
    assert "For The fence is dull, 7." in found.prompt.replace("`", "")
    assert {found.environments[-1][name] for name in ("HR_1", "HR_2")} == {"The fence is dull", "7"}
    other = run(text, "bug=" + ISSUE.replace('"7"', '"8"').replace("dull", "gone"))
    assert {other.environments[-1][name] for name in ("HR_1", "HR_2")} == {"The fence is gone", "8"}


def test_a_connected_agent_has_its_goal_for_an_issue(both: Benches) -> None:
    found = both(flow({"name": "ask", "prompt": "For {{ issue.title }}."}))
    assert "For Make it better.." in found.prompt.replace("`", "")
