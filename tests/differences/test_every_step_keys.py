"""The keys that every step may have."""

from support.differences.performers import HANG, Play
from support.differences.proofs import Benches, Json, flow, proves

AGENT: Json = {"name": "work", "prompt": "Do the work."}
SCRIPT: Json = {"name": "work", "command": "echo working"}
LAST: Json = {"name": "last", "command": "echo last"}
RED: Json = {"name": "work", "type": "script", "command": "exit 3"}


@proves("every step.name")
def test_the_name_of_a_step_is_how_others_and_people_speak_of_it(both: Benches) -> None:
    found = both(flow({"name": "paint", "prompt": "Paint it."}, {"name": "b", "command": "echo ${steps.paint.status}"}))
    assert found.addresses == ["paint"]
    assert found.environments[-1]["HR_1"] == "succeeded"


@proves("every step.type")
def test_the_type_decides_what_a_command_means(both: Benches) -> None:
    script, gate = both(flow({**RED, "on_fail": "continue"}, LAST)), both(flow({**RED, "type": "gate"}, LAST))
    assert (script.status, gate.status) == ("succeeded", "blocked")
    assert "checks failed" not in script.told
    assert "exit 3" in gate.told or "failed" in gate.told


@proves("every step.description")
def test_the_description_of_a_step_is_shown_to_whoever_performs_it(both: Benches) -> None:
    plain, described = both(flow(AGENT)), both(flow({**AGENT, "description": "It prepares the release."}))
    assert "It prepares the release." not in plain.prompt + plain.told
    assert "It prepares the release." in described.prompt + described.told


@proves("every step.when")
def test_when_decides_whether_a_step_runs(both: Benches) -> None:
    assert both(flow({**SCRIPT, "when": "1 == 2"}, LAST)).commands == ["echo last"]
    assert both(flow({**SCRIPT, "when": "1 == 1"}, LAST)).commands == ["echo working", "echo last"]
    assert both(flow({**AGENT, "when": "1 == 2"}, LAST)).addresses == []


@proves("every step.input")
def test_the_input_of_a_step_is_seen_by_that_step(both: Benches) -> None:
    asks = {"name": "work", "prompt": "Paint it {{ colour }}.", "input": {"colour": "blue"}}
    assert "Paint it blue." in both(flow(asks)).prompt
    assert "Paint it green." in both(flow({**asks, "input": {"colour": "green"}})).prompt


@proves("every step.output")
def test_the_output_of_a_step_is_a_name_for_later_ones(both: Benches) -> None:
    found = both(flow({**AGENT, "output": "answer"}, {"name": "b", "prompt": "Read this {{ answer }}"}))
    assert "Read this `Done.`" in found.prompt


@proves("every step.returns")
def test_a_result_must_have_the_type_that_returns_asks_for(both: Benches) -> None:
    plays = {"work": Play(output={"count": "many"})}
    assert both(flow(AGENT, LAST), plays={"work": Play()}).commands == ["echo last"]
    wrong = both(flow({**AGENT, "returns": {"count": "int"}}, LAST), plays=plays)
    assert wrong.commands == []
    assert "count" in wrong.prompt
    right = both(flow({**AGENT, "returns": {"count": "int"}}, LAST), plays={"work": Play(output={"count": 2})})
    assert right.commands == ["echo last"]


@proves("every step.timeout")
def test_a_step_that_takes_longer_than_its_timeout_is_ended(both: Benches) -> None:
    hangs = {"name": "work", "command": HANG, "timeout": "10ms"}
    found = both(flow(hangs))
    assert found.status == "failed"
    assert "longer than" in found.told


@proves("every step.retry")
def test_retry_gives_more_tries(both: Benches) -> None:
    assert both(flow(RED)).commands == ["exit 3"]
    assert both(flow({**RED, "retry": 2})).commands == ["exit 3"] * 3


@proves("retry.max", "retry.max_iterations", "retry.max_cycles")
def test_the_map_of_retry_says_how_many_more_tries_by_whatever_word(both: Benches) -> None:
    for word in ("max", "max_iterations", "max_cycles"):
        assert both(flow({**RED, "retry": {word: 2}})).commands == ["exit 3"] * 3


@proves("retry.max", "retry.backoff")
def test_backoff_lets_time_pass_between_tries(run: Benches) -> None:
    hasty = run(flow({**RED, "retry": {"max": 2}}))
    patient = run(flow({**RED, "retry": {"max": 2, "backoff": "30s"}}))
    assert hasty.commands == patient.commands == ["exit 3"] * 3
    assert [line for line in hasty.lines if "30s" in line] == []
    assert patient.bench.now - hasty.bench.now >= 30 + 60 - 1


@proves("every step.on_fail")
def test_on_fail_decides_what_a_failed_step_means(both: Benches) -> None:
    ends = {word: both(flow({**RED, "on_fail": word}, LAST)) for word in ("block", "fail", "continue", "warn")}
    assert {word: found.status for word, found in ends.items()} == {
        "block": "blocked",
        "fail": "failed",
        "continue": "succeeded",
        "warn": "succeeded",
    }
    assert ends["continue"].commands == ["exit 3", "echo last"]
    assert "needs you" in ends["block"].told
    assert "warning" in ends["warn"].told
    assert "warning" not in ends["continue"].told


@proves("every step.on_fail")
def test_on_fail_undo_takes_the_edits_back(run: Benches) -> None:
    writes = {"name": "work", "command": "echo broken > note.txt; exit 1"}
    kept = run(flow({**writes, "on_fail": "continue"}, LAST), git=True)
    undone = run(flow({**writes, "on_fail": "undo"}, LAST), git=True)
    assert (kept.file("note.txt"), undone.file("note.txt")) == ("broken\n", "")
    assert kept.commands == undone.commands


@proves("every step.on_fail")
def test_on_fail_retry_tries_a_gate_three_more_times(both: Benches) -> None:
    gate = {**RED, "type": "gate"}
    assert both(flow(gate)).commands == ["exit 3"]
    assert both(flow({**gate, "on_fail": "retry"})).commands == ["exit 3"] * 4


@proves("every step.budget")
def test_a_step_has_its_own_budget(run: Benches) -> None:
    costly = {"work": Play(status="api_error", cost=1.0)}
    assert len(run(flow({**AGENT, "retry": 2}), plays=costly).calls) == 3
    assert len(run(flow({**AGENT, "retry": 2, "budget": {"usd": 0.5}}), plays=costly).calls) == 1


@proves("every step.message")
def test_the_message_of_an_approval_is_what_a_person_is_asked(both: Benches) -> None:
    approval = {"name": "ok", "type": "approval"}
    assert "Is the fence blue?" not in both(flow(approval)).told
    assert "Is the fence blue?" in both(flow({**approval, "message": "Is the fence blue?"})).told


@proves("every step.done_when")
def test_done_when_lets_a_step_end_only_with_proof(both: Benches) -> None:
    proven = {**AGENT, "done_when": [{"exists": "note.txt"}]}
    assert both(flow(AGENT, LAST)).commands == ["echo last"]
    assert both(flow(proven, LAST)).commands == []
    assert both(flow(proven, LAST), plays={"work": Play(files={"note.txt": "x"})}).commands == ["echo last"]


@proves("every step.done_when", "every step.retry")
def test_work_that_is_not_proven_is_repaired_in_the_next_try(both: Benches) -> None:
    proven = {**AGENT, "done_when": [{"exists": "note.txt"}], "retry": 1}
    found = both(flow(proven, LAST), plays={"work": [Play(), Play(files={"note.txt": "x"})]})
    assert found.commands == ["echo last"]
    assert "note.txt" in found.prompts[1]


@proves("check of done_when.passes", "check of done_when.fails", "check of done_when.exit")
def test_commands_must_pass_or_fail_and_are_executed(both: Benches) -> None:
    def tried(*checks: Json) -> list[str]:
        return both(flow({**AGENT, "done_when": list(checks)}, LAST)).commands

    assert tried({"passes": "true"}) == ["true", "echo last"]
    assert tried({"passes": "exit 2"}) == ["exit 2"]
    assert tried({"fails": "exit 2"}) == ["exit 2", "echo last"]
    assert tried({"fails": "true"}) == ["true"]
    assert tried({"fails": "exit 2", "exit": 2}) == ["exit 2", "echo last"]
    assert tried({"fails": "exit 2", "exit": 1}) == ["exit 2"]


@proves("check of done_when.exists", "check of done_when.expect")
def test_paths_must_exist_and_expressions_hold(both: Benches) -> None:
    def ended(check: Json) -> bool:
        step = {**AGENT, "output": "said", "done_when": [check]}
        return both(flow(step, LAST), plays={"work": Play(files={"a.txt": ""})}).commands == ["echo last"]

    assert [ended({"exists": name}) for name in ("a.txt", "b.txt")] == [True, False]
    assert [ended({"expect": f"said == '{word}'"}) for word in ("Done.", "Else.")] == [True, False]


@proves("check of done_when.changed", "check of done_when.unchanged", "unchanged.paths")
def test_files_must_have_been_changed_or_not(run: Benches) -> None:
    def ended(check: Json) -> bool:
        plays = {"work": Play(files={"src/a.txt": "new"})}
        step = {**AGENT, "done_when": [check]}
        return run(flow(step, LAST), plays=plays, files={"src/b.txt": "old"}, git=True).commands == ["echo last"]

    assert [ended({"changed": glob}) for glob in ("src/**", "docs/**")] == [True, False]
    assert [ended({"unchanged": glob}) for glob in ("src/**", "docs/**")] == [False, True]
    assert [ended({"unchanged": {"paths": glob}}) for glob in ("src/**", "docs/**")] == [False, True]


@proves("unchanged.ignored")
def test_ignored_files_count_where_unchanged_says_so(run: Benches) -> None:
    def ended(*, ignored: bool) -> bool:
        step = {**AGENT, "done_when": [{"unchanged": {"paths": "*.log", "ignored": ignored}}]}
        plays = {"work": Play(files={"a.log": "new"})}
        return run(flow(step, LAST), plays=plays, files={".gitignore": "*.log\n"}, git=True).commands == ["echo last"]

    assert [ended(ignored=flag) for flag in (False, True)] == [True, False]


@proves("check of done_when.report", "report.junit", "report.min_tests")
def test_a_report_must_show_tests_and_no_failure(both: Benches) -> None:
    good = '<testsuite tests="1"><testcase name="a"/></testsuite>'
    bad = '<testsuite tests="1" failures="1"><testcase name="a"><failure/></testcase></testsuite>'

    def ended(report: Json, text: str = good) -> bool:
        step = {**AGENT, "done_when": [{"report": report}]}
        return both(flow(step, LAST), plays={"work": Play(files={"r.xml": text})}).commands == ["echo last"]

    assert ended({"junit": "r.xml"})
    assert not ended({"junit": "r.xml"}, bad)
    assert not ended({"junit": "other.xml"})
    assert not ended({"junit": "r.xml", "min_tests": 2})


@proves("check of a file.check", "check of a file.file")
def test_a_check_of_a_file_runs_the_configured_command_on_it(run: Benches) -> None:
    config = '[checks.test_one]\ncommand = "grep -q green"\nfailed = [1]\n[checks.other]\ncommand = "test -e"\n'

    def ran(check: str, file: str) -> list[str]:
        step = {**AGENT, "done_when": [{"passes": {"check": check, "file": file}}]}
        plays = {"work": Play(files={"a.txt": "green", "b.txt": "red"})}
        found = run(flow(step, LAST), plays=plays, config=config)
        return [each.partition(" ")[0] for each in found.commands]

    assert ran("test_one", "a.txt") == ["grep", "echo"]
    assert ran("test_one", "b.txt") == ["grep"]
    assert ran("other", "b.txt") == ["test", "echo"]
