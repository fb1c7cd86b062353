from collections.abc import Callable

import pytest
from inline_snapshot import snapshot

from handrail.authoring.importers import ImportedWorkflows, import_files
from support.authoring.coven_sources import single
from support.authoring.notes_shown import notes, page


def test_what_was_lost_is_said_with_its_line() -> None:
    steps = (
        "  - name: ask\n    type: agent\n    spell: ask\n    retries: 3\n"
        "  - name: odd\n    type: webhook\n"
        "  - name: check\n    type: script\n    command: make {{printf \"%s\" .x}}\n    when: 'maybe {{.x}}'\n"
    )
    spell = 'one\n{{with $x := .a}}two{{end}}\n{{template "t" .}}\n'
    files = {**single(steps, ask=spell, unused="nobody"), "config.json": "{}"}
    assert page(import_files(files), "lost") == snapshot("""\
lost config.json:1
  the file was not imported: agent, polling and concurrency belong in Handrail's config.toml
lost grimoires/one.yaml:7
  the key 'retries' has no effect in such a step and was left out
lost grimoires/one.yaml:8
  a step of type 'webhook' is unknown to Coven and was left out
lost grimoires/one.yaml:12
  the command `make {{printf "%s" .x}}` cannot be translated (the function `printf`); the
  step fails until you write the command
lost grimoires/one.yaml:13
  the condition `maybe {{.x}}` cannot be translated (it is not a single template action);
  the step never runs until you write `when`
lost spells/ask.md:2
  `{{with $x := .a}}` has no counterpart (unexpected `:=`); it was kept as plain text
lost spells/ask.md:3
  `{{template "t" .}}` has no counterpart (it is a statement); it was kept as plain text
lost spells/unused.md:1
  the file was not imported: no workflow uses it
""")


def test_a_missing_spell_is_named_with_the_file_to_write() -> None:
    imported = import_files(single("  - name: go\n    type: agent\n    spell: implement\n"))
    assert any("create it as prompts/implement.md" in note for note in notes(imported, "lost"))


def test_an_untranslatable_condition_never_lets_the_step_run() -> None:
    steps = "  - name: go\n    type: script\n    command: make\n    when: '{{printf .x}}'\n"
    assert "when: false" in import_files(single(steps)).files["one/workflow.yaml"]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("{{.flag}}", "when: flag\n"),
        ("{{not .flag}}", "when: not flag\n"),
        ('{{eq .kind "bug"}}', "when: kind == 'bug'\n"),
        ('{{eq .kind "bug" "chore"}}', "when: kind == 'bug' or kind == 'chore'\n"),
        ('{{and (ne .kind "bug") (gt .size 3)}}', "when: kind != 'bug' and size > 3\n"),
        ("{{or .a .b}}", "when: a or b\n"),
        ('{{index .names 0 | eq "x"}}', "when: \"'x' == names[0]\"\n"),
        ("{{.previous.success}}", "when: steps.first.status == 'succeeded'\n"),
        ("{{.first.failed}}", "when: steps.first.status == 'failed'\n"),
        ("{{.log}}", "when: log not in ['', 'false', '0']\n"),
        ("true", "when: true\n"),
    ],
)
def test_conditions_become_bare_expressions(
    written: str, expected: str, problems: Callable[[ImportedWorkflows], list[str]]
) -> None:
    steps = (
        "  - name: first\n    type: script\n    command: make\n    output: log\n"
        f"  - name: go\n    type: script\n    command: make\n    when: '{written}'\n"
    )
    imported = import_files(single(steps))
    assert expected in imported.files["one/workflow.yaml"]
    assert problems(imported) == []


@pytest.mark.parametrize(
    ("given", "expected"),
    [("1h30m", "1h30m"), ("1.5h", "90m"), ("90s", "90s"), ("250ms", "250ms"), ("0.5s", "500ms")],
)
def test_durations_are_whole(given: str, expected: str) -> None:
    text = import_files(single(f"  - name: go\n    type: script\n    command: make\n    timeout: {given}\n")).files
    assert f"timeout: {expected}\n" in text["one/workflow.yaml"]


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("", "    max_iterations: 100\n    on_max: fail\n"),
        ("    max_iterations: 0\n", "    max_iterations: 100\n    on_max: fail\n"),
        ("    max_iterations: 4\n", "    max_iterations: 4\n    on_max: continue\n"),
        ("    max_iterations: 4\n    on_max_iterations: exit\n", "    max_iterations: 4\n    on_max: fail\n"),
        ("    max_iterations: 4\n    on_max_iterations: block\n", "    max_iterations: 4\n    on_max: block\n"),
    ],
)
def test_the_end_of_a_loop_means_what_it_meant(keys: str, expected: str) -> None:
    body = "    steps:\n      - name: go\n        type: script\n        command: make\n"
    text = import_files(single(f"  - name: again\n    type: loop\n{keys}{body}")).files["one/workflow.yaml"]
    assert expected in text


def test_the_round_of_a_loop_starts_at_zero(problems: Callable[[ImportedWorkflows], list[str]]) -> None:
    body = "    steps:\n      - name: go\n        type: script\n        command: echo {{.re-try.iteration}}\n"
    imported = import_files(single(f"  - name: re-try\n    type: loop\n    max_iterations: 2\n{body}"))
    assert "command: echo ${round - 1}" in imported.files["one/workflow.yaml"]
    assert problems(imported) == []


def test_braces_of_the_shell_stay_the_shells(problems: Callable[[ImportedWorkflows], list[str]]) -> None:
    imported = import_files(
        single("  - name: go\n    type: script\n    command: for f in *; do echo ${f} $HOME ${HOME}; done\n")
    )
    assert "echo $${f} $HOME ${HOME}" in imported.files["one/workflow.yaml"]
    assert problems(imported) == []


def test_an_inline_spell_stays_inline(problems: Callable[[ImportedWorkflows], list[str]]) -> None:
    steps = "  - name: go\n    type: agent\n    spell: |\n      Fix {{.bead.title}}.\n      Now.\n"
    imported = import_files(single(steps))
    assert "    prompt: |\n      Fix {{ issue.title }}.\n      Now.\n" in imported.files["one/workflow.yaml"]
    assert problems(imported) == []


def test_an_include_that_includes_itself_is_reported() -> None:
    steps = "  - name: go\n    type: agent\n    spell: a\n"
    imported = import_files(single(steps, a='{{include "b"}}', b='{{include "b"}}'))
    assert any("'b' includes itself: b -> b" in note for note in notes(imported, "lost"))


def test_what_an_include_is_given_is_seen_in_it() -> None:
    steps = "  - name: go\n    type: agent\n    spell: a\n"
    imported = import_files(single(steps, a='{{include "b" "who" .bead.title}}', b="Hello {{.who}}!"))
    assert imported.files["one/prompts/10-a.md"] == "Hello {{ issue.title }}!\n"


def test_two_steps_with_one_spell_share_its_file() -> None:
    steps = "  - name: a\n    type: agent\n    spell: same\n  - name: b\n    type: agent\n    spell: same\n"
    imported = import_files(single(steps, same="text"))
    assert [path for path in imported.files if path.endswith(".md")] == ["one/prompts/10-same.md"]


def test_a_result_that_comes_later_is_not_taken_for_an_input() -> None:
    steps = (
        "  - name: a\n    type: agent\n    spell: s\n"
        "  - name: b\n    type: agent\n    spell: s2\n    output: findings\n"
    )
    imported = import_files(single(steps, s="{{.findings}}", s2="x"))
    assert imported.files["one/prompts/10-s.md"] == "{% raw %}{{.findings}}{% endraw %}\n"
    assert "input:" not in imported.files["one/workflow.yaml"]


def test_type_and_priority_of_a_bead_are_inputs(problems: Callable[[ImportedWorkflows], list[str]]) -> None:
    imported = import_files(single("  - name: a\n    type: agent\n    spell: s\n", s="{{.bead.priority}}"))
    assert imported.files["one/prompts/10-s.md"] == "{{ issue_priority }}\n"
    assert problems(imported) == []


NATIVE = """\
name: review-loop
description: the first form
trigger: manual
input:
  - name: changes
steps:
  - name: review
    type: agent-loop
    prompt: review-changes
    arbiter_prompt: is-actionable
    max_iterations: 5
    exit_when: ${actionable} == false
    input:
      changes: ${changes}
    output: review
  - name: tests
    type: gate
    command: make test
    on_fail: block
"""


def test_a_workflow_of_the_first_form_is_copied(problems: Callable[[ImportedWorkflows], list[str]]) -> None:
    prompts = {
        "prompts/review-changes.md": "Review {{.changes}}\n",
        "prompts/is-actionable.md": "Judge\n",
    }
    imported = import_files({"grimoires/review-loop.yaml": NATIVE, **prompts})
    assert imported.files["review-loop/workflow.yaml"] == NATIVE
    assert imported.files["review-loop/prompts/review-changes.md"] == "Review {{.changes}}\n"
    assert problems(imported) == []
