"""Common mistakes of people who know other systems, or this one only in part, with what to write instead."""

from handrail.authoring.shapes.shapes import Kind

HINTS = {
    "id": "steps have a 'name'",
    "run": "the key is 'command'",
    "spell": "the key is 'prompt'; `handrail import` translates whole files",
    "if": "the key is 'when'",
    "contract": "the key is 'returns'; 'contract' belongs to WorkRail-style JSON",
    "outputs": "the key is 'output'",
    "with": "the key is 'input'",
    "parallel": "use `type: parallel-agents` with 'for_each'",
    "join": "use 'on_fail': block, continue or fail",
    "prompt_blocks": "write sections in the prompt file, with {% if %} where they are optional",
    "prompt_fragments": "use {% if %} in the prompt file",
    "continue_on_error": "use `on_fail: continue`",
    **dict.fromkeys(
        ("max", "max_cycles", "max_iterations"),
        "only steps that repeat have it: `loop`, `agent-loop` and `review`; `retry` is for additional tries",
    ),
}
"""Keys that other systems and earlier drafts use on a step."""

WORDS = {
    **dict.fromkeys(("shell", "bash", "sh", "cmd", "run", "exec", "command"), "script"),
    **dict.fromkeys(("prompt", "llm", "ai", "claude", "codex", "task"), "agent"),
    **dict.fromkeys(("check", "checks", "test", "verify"), "gate"),
    **dict.fromkeys(("for", "foreach", "for_each", "while", "until"), "loop"),
    **dict.fromkeys(("human", "manual", "confirm"), "approval"),
    "parallel": "parallel-agents",
    "pr": "pull-request",
}
"""Types of steps in other systems, with Handrail's."""

STEP_SLIPS: dict[Kind, str] = {
    "text": "a step is a map: `{name: first, command: VALUE}`, or with `prompt` for an agent"
}
CHECKS_SLIPS: dict[Kind, str] = dict.fromkeys(
    ("text", "list"), "name each command: `checks: {test: VALUE}`; or write `checks: project`"
)
DONE_WHEN_SLIPS: dict[Kind, str] = {
    "text": "write a list: `done_when: [{passes: VALUE}]` for a command, or with `expect` for an expression"
}
STEPS_SLIPS: dict[Kind, str] = {
    "map": "steps are a list, and each item starts with `- `: `- name: NAME`",
    "text": "write a list of steps: `steps: [{name: first, command: VALUE}]`, or with `prompt` for an agent",
}
CHECK_SLIPS: dict[Kind, str] = {"text": "write `{passes: VALUE}` for a command, `{expect: VALUE}` for an expression"}
INPUT_SLIPS: dict[Kind, str] = dict.fromkeys(("text", "list"), 'name the value: `input: {NAME: "${NAME}"}`')
INPUTS_SLIPS: dict[Kind, str] = {"text": "name it with its type: `input: {NAME: string}`"}
