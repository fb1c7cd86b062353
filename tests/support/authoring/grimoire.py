"""The grimoire that the design document of Coven composes from its own examples, with its prompts."""

GRIMOIRE = """\
name: spec-to-pr
description: From a specification to reviewed work.
trigger: manual
input:
  - name: openspec
steps:
  - name: convert
    type: agent
    prompt: spec-to-beads
    output: beads
  - name: implement
    type: parallel-agents
    prompt: implement-bead
    for_each: ${beads}
    max_concurrent: 2
    output: implementations
  - name: review
    type: agent-loop
    prompt: review-changes
    arbiter_prompt: is-actionable
    max_iterations: 5
    exit_when: ${actionable} == false
    input:
      changes: ${implementations}
    output: review
  - name: test
    type: gate
    command: test -e login.txt && test -e logout.txt
    on_fail: block
    message: the work of the beads is not here
"""
PROMPTS = {
    "spec-to-beads": "# Beads\n\n## Input\nOpenSpec path: {{.openspec}}\n",
    "implement-bead": (
        "## Previous Step: {{.previous_step.name}}\nResult: {{.previous_step.output}}\n\n## Your Task\n{{ item }}\n"
    ),
}
FILES = {
    ".coven/grimoires/spec-to-pr.yaml": GRIMOIRE,
    **{f".coven/prompts/{name}.md": text for name, text in PROMPTS.items()},
}
