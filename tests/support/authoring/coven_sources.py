"""Coven's built-in workflows, as its files write them."""

CONTRACT = """
## Result

End with a JSON block:

```json
{"success": true, "summary": "what was done", "outputs": {}, "error": null}
```
"""

IMPLEMENT_BEAD = """\
name: implement-bead
description: Implement a bead with tests, review and merge
timeout: 2h

steps:
  - name: implement
    type: agent
    spell: implement
    timeout: 30m
    output: implementation

  - name: quality-loop
    type: loop
    max_iterations: 3
    on_max_iterations: block
    steps:
      - name: run-tests
        type: script
        command: |
          if [ -f go.mod ]; then go test ./...
          elif [ -f package.json ]; then npm test
          elif [ -f Cargo.toml ]; then cargo test
          else make test; fi
        timeout: 10m
        on_fail: continue

      - name: fix-tests
        type: agent
        spell: fix-tests
        when: '{{eq .run_tests.status "failed"}}'
        input:
          test_output: "{{.run_tests.output}}"
        timeout: 15m
        output: test_fixes

      - name: review
        type: agent
        spell: review
        timeout: 15m
        output: findings

      - name: check-actionable
        type: agent
        spell: is-actionable
        timeout: 5m
        input:
          findings: "{{.findings.outputs.issues}}"
        output: actionable

      - name: apply-fixes
        type: agent
        spell: apply-review-fixes
        when: "{{.actionable.outputs.needs_fixes}}"
        input:
          findings: "{{.findings.outputs.issues}}"
        timeout: 15m

      - name: final-test
        type: script
        command: make test
        timeout: 10m
        on_success: exit_loop

  - name: merge-changes
    type: merge
    require_review: true
"""

SPEC_TO_BEADS = """\
name: spec-to-beads
description: Turn a specification into beads
timeout: 30m
steps:
  - name: analyze-spec
    type: agent
    spell: analyze-spec
    timeout: 10m
    input:
      spec_path: "{{.spec_path}}"
    output: analysis
  - name: create-beads
    type: agent
    spell: create-beads
    timeout: 15m
    input:
      analysis: "{{.analysis.outputs}}"
    output: beads
  - name: validate-beads
    type: script
    command: bd list --status=open | grep -c .
    timeout: 1m
    on_fail: block
"""

PREPARE_PR = """\
name: prepare-pr
description: Summarize the changes and open a draft
timeout: 30m
steps:
  - name: summarize-changes
    type: script
    command: git diff --stat main...HEAD && git log --oneline main...HEAD
    output: changes_summary
  - name: create-pr
    type: script
    command: gh pr create --title {{.bead.title}} --body {{.changes_summary}} --draft
"""

SPELLS = {
    "implement": "# Implement\n\n{{.bead.title}} ({{.bead.id}})\n\n{{.bead.body}}\n\n"
    "{{if .bead.labels}}Labels: {{range .bead.labels}}{{.}} {{end}}{{end}}\n" + CONTRACT,
    "fix-tests": "# Fix the tests\n\n{{.test_output | trim}}\n" + CONTRACT,
    "review": '# Review\n\n{{- /* keep it short */ -}}\n\n{{include "style"}}\n' + CONTRACT,
    "style": "Be brief, {{.bead.title | upper}}.\n",
    "is-actionable": "# Judge\n\n{{.findings}}\n" + CONTRACT,
    "apply-review-fixes": '# Apply\n\n{{default "none" .findings}}\n' + CONTRACT,
    "analyze-spec": "# Analyze {{.spec_path}}\n" + CONTRACT,
    "create-beads": "# Create\n\n{{.analysis}}\n" + CONTRACT,
}


def folder(**workflows: str) -> dict[str, str]:
    files = {f".coven/grimoires/{name.replace('_', '-')}.yaml": text for name, text in workflows.items()}
    return {**files, **{f".coven/spells/{name}.md": text for name, text in SPELLS.items()}}


def single(steps: str, **spells: str) -> dict[str, str]:
    text = "name: one\ndescription: d\nsteps:\n" + steps
    return {"grimoires/one.yaml": text, **{f"spells/{name}.md": body for name, body in spells.items()}}
