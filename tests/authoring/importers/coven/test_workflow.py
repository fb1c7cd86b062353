from collections.abc import Callable

from inline_snapshot import snapshot

from handrail.authoring.importers import ImportedWorkflows, detect, import_files
from support.authoring.coven_sources import IMPLEMENT_BEAD, PREPARE_PR, SPEC_TO_BEADS, folder
from support.authoring.notes_shown import page


def test_the_built_in_workflows_are_recognised() -> None:
    assert detect(folder(implement_bead=IMPLEMENT_BEAD)) == "coven"


def test_the_built_in_workflows_compile(problems: Callable[[ImportedWorkflows], list[str]]) -> None:
    files = folder(implement_bead=IMPLEMENT_BEAD, spec_to_beads=SPEC_TO_BEADS, prepare_pr=PREPARE_PR)
    imported = import_files(files)
    assert problems(imported) == []
    assert [path for path in imported.files if path.endswith("yaml")] == [
        "implement-bead/workflow.yaml",
        "spec-to-beads/workflow.yaml",
        "prepare-pr/workflow.yaml",
    ]


def test_implement_bead_reads_like_a_native_workflow() -> None:
    imported = import_files(folder(implement_bead=IMPLEMENT_BEAD))
    assert imported.files["implement-bead/workflow.yaml"] == snapshot("""\
name: implement-bead
description: Implement a bead with tests, review and merge
timeout: 2h

input:
  issue: issue

steps:
  - name: implement
    prompt: prompts/10-implement.md
    output: implementation
    timeout: 30m

  - name: quality-loop
    type: loop
    while: true
    max_iterations: 3
    on_max: block
    steps:
      - name: run-tests
        command: |
          if [ -f go.mod ]; then go test ./...
          elif [ -f package.json ]; then npm test
          elif [ -f Cargo.toml ]; then cargo test
          else make test; fi
        on_fail: continue
        timeout: 10m

      - name: fix-tests
        when: steps.run_tests.status == 'failed'
        input:
          test_output: ${steps.run_tests.stdout}
        prompt: prompts/20-fix-tests.md
        output: test_fixes
        on_fail: continue
        timeout: 15m

      - name: review
        prompt: prompts/30-review.md
        output: findings
        returns:
          issues: json
        on_fail: continue
        timeout: 15m

      - name: check-actionable
        input:
          findings: ${findings.issues}
        prompt: prompts/40-is-actionable.md
        output: actionable
        returns:
          needs_fixes: bool
        on_fail: continue
        timeout: 5m

      - name: apply-fixes
        when: actionable.needs_fixes
        input:
          findings: ${findings.issues}
        prompt: prompts/50-apply-review-fixes.md
        on_fail: continue
        timeout: 15m

      - name: final-test
        command: make test
        on_success: exit_loop
        on_fail: continue
        timeout: 10m

  - name: review-merge-changes
    type: approval
    message: Review the changes before they are committed.
    show:
      - diff

  - name: merge-changes
    type: commit
    message: Merge changes from worktree
""")


def test_spec_to_beads_gets_the_input_that_it_never_had() -> None:
    imported = import_files(folder(spec_to_beads=SPEC_TO_BEADS))
    assert imported.files["spec-to-beads/workflow.yaml"] == snapshot("""\
name: spec-to-beads
description: Turn a specification into beads
timeout: 30m

input:
  spec_path: path

steps:
  - name: analyze-spec
    input:
      spec_path: ${spec_path}
    prompt: prompts/10-analyze-spec.md
    output: analysis
    returns: json
    timeout: 10m

  - name: create-beads
    input:
      analysis: ${analysis}
    prompt: prompts/20-create-beads.md
    output: beads
    timeout: 15m

  - name: validate-beads
    command: bd list --status=open | grep -c .
    on_fail: block
    timeout: 1m
""")


def test_prepare_pr_takes_its_title_from_the_issue() -> None:
    imported = import_files(folder(prepare_pr=PREPARE_PR))
    assert imported.files["prepare-pr/workflow.yaml"] == snapshot("""\
name: prepare-pr
description: Summarize the changes and open a draft
timeout: 30m

input:
  issue: issue

steps:
  - name: summarize-changes
    command: git diff --stat main...HEAD && git log --oneline main...HEAD
    output: changes_summary

  - name: create-pr
    command: gh pr create --title ${issue.title} --body ${changes_summary} --draft
""")


def test_prompts_are_numbered_and_translated() -> None:
    imported = import_files(folder(implement_bead=IMPLEMENT_BEAD))
    assert imported.files["implement-bead/prompts/10-implement.md"].split("\n## Result")[0] == snapshot("""\
# Implement

{{ issue.title }} ({{ issue.id }})

{{ issue.body }}

{% if issue.labels is not empty %}Labels: {% for item in issue.labels %}{{ item }} {% endfor %}{% endif %}
""")
    assert imported.files["implement-bead/prompts/30-review.md"].split("\n## Result")[0] == snapshot(
        "# ReviewBe brief, {{ issue.title | upper }}.\n"
    )


def test_what_was_changed_is_said() -> None:
    imported = import_files(folder(implement_bead=IMPLEMENT_BEAD))
    assert page(imported, "changed") == snapshot("""\
changed .coven/grimoires/implement-bead.yaml:1
  the result of 'review' is now checked: `returns` lists what later steps use (issues)
changed .coven/grimoires/implement-bead.yaml:1
  the result of 'check-actionable' is now checked: `returns` lists what later steps use
  (needs_fixes)
changed .coven/grimoires/implement-bead.yaml:1
  Coven's own time limits (15m for agents, 5m for others) are not written; set `timeout`
  where needed
changed .coven/grimoires/implement-bead.yaml:1
  an agent that fails at the top level blocks for a person; Coven failed the run (`on_fail:
  fail`)
changed .coven/grimoires/implement-bead.yaml:3
  the timeout 2h is now enforced; Coven ignored it
changed .coven/grimoires/implement-bead.yaml:27
  the output of 'run-tests' is its standard output only; Coven included standard error
changed .coven/grimoires/implement-bead.yaml:27
  an agent that fails inside a loop does not end it, as in Coven (`on_fail: continue`)
changed .coven/grimoires/implement-bead.yaml:30
  conditions also apply inside loops; Coven ignored them there
changed .coven/grimoires/implement-bead.yaml:36
  an agent that fails inside a loop does not end it, as in Coven (`on_fail: continue`)
changed .coven/grimoires/implement-bead.yaml:42
  an agent that fails inside a loop does not end it, as in Coven (`on_fail: continue`)
changed .coven/grimoires/implement-bead.yaml:50
  an agent that fails inside a loop does not end it, as in Coven (`on_fail: continue`)
changed .coven/grimoires/implement-bead.yaml:53
  conditions also apply inside loops; Coven ignored them there
changed .coven/grimoires/implement-bead.yaml:58
  a script that fails inside a loop does not end it, as in Coven (`on_fail: continue`)
changed .coven/grimoires/implement-bead.yaml:64
  the changes stay on the run's branch as a commit; merge it with `handrail merge` or a
  pull-request step
changed .coven/grimoires/implement-bead.yaml:64
  `require_review` is now the approval step 'review-merge-changes' before this one
changed .coven/spells/apply-review-fixes.md:1
  the prompt ends with Coven's JSON result; a step's `returns` already asks for its fields
changed .coven/spells/fix-tests.md:1
  the prompt ends with Coven's JSON result; a step's `returns` already asks for its fields
changed .coven/spells/implement.md:1
  the prompt ends with Coven's JSON result; a step's `returns` already asks for its fields
changed .coven/spells/is-actionable.md:1
  the prompt ends with Coven's JSON result; a step's `returns` already asks for its fields
changed .coven/spells/review.md:1
  the prompt ends with Coven's JSON result; a step's `returns` already asks for its fields
""")
