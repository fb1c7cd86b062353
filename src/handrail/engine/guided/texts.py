"""Writes everything that a guided step asks of an agent as plain text, the same whether it is pulled or pushed.

1. The author's text comes first and complete; Handrail's requirements follow under headings of their own.
2. Every requirement of a step is stated: the criteria, the contract with its schema, the levels, the notes.
3. The role of an agent is part of this text, never of its system prompt.
4. The order never changes: loop, role, prompt, guidance, definitions, demands, confirmation, notes, fragments.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from handrail.engine.contracts.example import minimal_example
from handrail.engine.prompts.demands import assessment_sections, capability_sections, json_block
from handrail.engine.text.untrusted_text import code, fence_code
from handrail.model.workflow.guidance import GuidedWorkflow
from handrail.model.workflow.values import JsonValue

Spec = Mapping[str, JsonValue]
CONFIRMATION = "wr.confirmation"
"""The kind of artifact that says who confirmed a step."""
_CONFIRMERS = {
    "user": "your user",
    "coordinator_eval": "whoever coordinates this work",
}
_RUNS = "Handrail runs {} when you submit this step, and accepts the step only if it passes: run it yourself first."
_STRENGTHS = {"lightweight": "a lightweight one", "mid": "a mid-range one", "heavy": "a heavy one"}
PERSON = "human_approval"
"""The confirmer whom the engine itself asks; no agent can confirm in their place."""


def step_text(spec: Spec, *, notes_known: bool = False, rules: Sequence[str] = ()) -> str:
    """Write the text of a guided step or of one that delegates; `rules` are those of the whole workflow."""
    sections = (
        *_loop(spec),
        *_role(spec),
        str(spec.get("prompt", "")).strip(),
        str(spec.get("marks") or ""),
        *_delegations(spec),
        *_list_section("Guidance for this step", _list(spec.get("guidance"))),
        *_list_section("Rules of this workflow", rules),
        *_files(spec),
        *_tier(spec),
        *definitions(_list(spec.get("functions"))),
        *_verification(spec),
        *_criteria(spec),
        *_contract(spec),
        *assessment_sections(spec.get("assessments")),
        *capability_sections(spec.get("capabilities")),
        *_confirmation(spec),
        *_notes(spec, notes_known=notes_known),
        *(str(each) for each in _list(spec.get("fragments"))),
    )
    return "\n\n".join(section for section in sections if section)


def opening_rules(guided: GuidedWorkflow) -> tuple[str, ...]:
    """List the rules of a workflow for whoever begins it, with its preconditions and the questions to ask first."""
    return (*guided.meta_guidance, *opening_questions(guided))


def opening_questions(guided: GuidedWorkflow) -> tuple[str, ...]:
    """List the preconditions of a workflow and the questions to ask first."""
    return (
        *(
            f"This must be true before you start; if it is not, stop and say so: {each}"
            for each in guided.preconditions
        ),
        *(f"Ask this first, unless you know the answer: {each}" for each in guided.clarification_prompts),
    )


def agent_text(spec: Spec, rules: Sequence[str] = ()) -> str:
    """Write the text of a native agent step that a connected agent performs."""
    parts = [str(spec.get(name) or "").strip() for name in ("system_prompt", "prompt")]
    parts += _list_section("Rules of this workflow", rules)
    parts += assessment_sections(spec.get("assessments"))
    parts += capability_sections(spec.get("capabilities"))
    schema = spec.get("schema")
    if schema is not None:
        parts += [
            "# Result\n\nReturn the result in `output.result`. It must match this JSON Schema:",
            schema_text(schema),
            f"A minimal valid example:\n\n{json_block(minimal_example(schema))}",
        ]
    return "\n\n".join(part for part in parts if part)


def _loop(spec: Spec) -> Iterator[str]:
    loop = spec.get("loop")
    if not isinstance(loop, dict) or loop.get("decides"):
        return
    name, iteration, most = loop.get("title") or loop.get("id"), loop.get("iteration"), loop.get("most")
    if iteration == 1:
        yield f"> {name}: pass 1 of at most {most}. This step may be repeated."
    else:
        yield f"> {name}: pass {iteration} of at most {most}. Build on the earlier passes and on what they left open."


def _role(spec: Spec) -> Iterator[str]:
    if spec.get("agent_role"):
        yield f"# Your role\n\n{spec['agent_role']}\n\n# Your task"


def _delegations(spec: Spec) -> Iterator[str]:
    asked = _list(spec.get("delegations"))
    if not asked:
        return
    reported = spec.get("reported")
    done = cast("dict[str, JsonValue]", reported) if isinstance(reported, dict) else {}
    lines: list[str] = []
    for number, each in enumerate(asked, 1):
        one = cast("dict[str, JsonValue]", each)
        state = "reported" if str(number) in done else "open"
        goal = f": {one['goal']}" if one.get("goal") else ""
        lines.append(f"{number}. [{state}] {one.get('workflow')}{goal}")
        if one.get("context"):
            lines.append(f"   context: {one.get('shown_context') or json.dumps(one['context'], ensure_ascii=False)}")
        lines += _means(one)
    if all(str(number) in done for number in range(1, len(asked) + 1)):
        yield "# Delegated work\n\nAll results are in; submit what you conclude from them:\n\n" + "\n".join(lines)
        return
    yield (
        "# Work to delegate\n\nHave each of these workflows carried out, by agents of your own if"
        " you can start them, otherwise do them yourself; in parallel if you can:\n\n" + "\n".join(lines)
    )
    yield (
        "Report each result as an artifact, one at a time as they arrive, or several together. `delegation` is the"
        f" number above; `status` is done, failed or skipped:\n\n{json_block(delegation_result(1))}"
    )


def _means(delegation: Spec) -> Iterator[str]:
    """Describe the model and the tools with which a piece of work should be done."""
    tools = delegation.get("allowed_tools")
    if delegation.get("model_tier"):
        yield f"   model: {_STRENGTHS[str(delegation['model_tier'])]}, if you can choose one"
    if isinstance(tools, list):
        yield f"   tools: {', '.join(map(str, tools)) or 'none'}"


def delegation_result(number: int) -> JsonValue:
    """Build an example of the report on delegated work."""
    return {"kind": "wr.delegation_result", "delegation": number, "status": "done", "summary": "the outcome"}


def _list_section(title: str, lines: Sequence[JsonValue]) -> Iterator[str]:
    if lines:
        yield f"# {title}\n\n" + "\n".join(f"- {line}" for line in lines)


def _files(spec: Spec) -> Iterator[str]:
    if spec.get("ask_for_files"):
        yield "Ask your user for files that this step needs and that you cannot find yourself."


def _tier(spec: Spec) -> Iterator[str]:
    if spec.get("model_tier"):
        yield f"If you can choose a model for this step, choose {_STRENGTHS[str(spec['model_tier'])]}."


def definitions(functions: Sequence[JsonValue]) -> Iterator[str]:
    """Describe the functions that prompts refer to."""
    lines = [_definition(cast("dict[str, JsonValue]", each)) for each in functions]
    yield from _list_section("Definitions", lines)


def _definition(function: Spec) -> str:
    parameters = (cast("dict[str, JsonValue]", each) for each in _list(function.get("parameters")))
    listed = ", ".join(map(_parameter, parameters))
    return f"`{function.get('name')}({listed})`: {function.get('definition')}"


def _parameter(parameter: Spec) -> str:
    """Format a parameter with its type or allowed values, its default, and what it is for."""
    choices = " | ".join(json.dumps(each, ensure_ascii=False) for each in _list(parameter.get("enum")))
    default = "" if parameter.get("default") is None else f" = {json.dumps(parameter['default'], ensure_ascii=False)}"
    about = f" ({parameter['description']})" if parameter.get("description") else ""
    optional = "" if parameter.get("required") else "?"
    return f"{parameter.get('name')}{optional}: {choices or parameter.get('type')}{default}{about}"


def _verification(spec: Spec) -> Iterator[str]:
    verification, audit = spec.get("verification"), spec.get("audit")
    if isinstance(verification, dict):
        command, prompt = verification.get("command"), verification.get("prompt")
        lines = ([f"{_RUNS.format(code(str(command)))}"] if command else []) + ([str(prompt)] if prompt else [])
        yield "# Verify before you submit\n\n" + "\n".join(lines)
    if isinstance(audit, dict):
        rubric = "".join(f"\n- {each}" for each in _list(audit.get("rubric")))
        yield f"# Audit your work\n\n{audit.get('prompt')}{rubric}"


def _criteria(spec: Spec) -> Iterator[str]:
    yield from _list_section("Your notes must meet this", _list(spec.get("criteria")))


def _contract(spec: Spec) -> Iterator[str]:
    contract = spec.get("contract")
    if not isinstance(contract, dict):
        return
    must = "Give" if contract.get("required", True) else "You may give"
    yield (
        f"# Artifact\n\n{must} an artifact of kind `{contract.get('kind')}` in `output.artifacts`. It must match this"
        f" JSON Schema:\n\n{schema_text(contract.get('schema'))}\n\n"
        f"A minimal valid example:\n\n{json_block(contract.get('example'))}"
    )


def _confirmation(spec: Spec) -> Iterator[str]:
    by = spec.get("confirmation")
    if by == PERSON:
        yield (
            "# Approval\n\nSubmit this step when it is done. Handrail then asks a person to approve it, send it back"
            " or reject it; the run continues once the person has answered."
        )
    elif isinstance(by, str):
        who = _CONFIRMERS.get(by, "your user")
        yield (
            f"# Confirmation\n\nBefore you submit this step, show {who} your work and wait for a yes. Then add the"
            f" confirmation to `output.artifacts`:\n\n{json_block(confirmation_example())}"
        )


def confirmation_example() -> JsonValue:
    """Build an example of the confirmation that a step asks for."""
    return {"kind": CONFIRMATION, "confirmed": True, "by": "<who said yes>"}


def _notes(spec: Spec, *, notes_known: bool) -> Iterator[str]:
    if spec.get("notes") != "required":
        return
    if notes_known:
        yield "# Notes\n\nWrite notes in `output.notesMarkdown` again: what you did, decided, found and left open."
        return
    yield (
        "# Notes\n\nWrite notes in `output.notesMarkdown`. They are all that remains of this step once your context is"
        " gone, so write for a reader who knows nothing about it: what you did and produced, what you decided and why,"
        " what is open or uncertain, which files matter. 10 to 30 lines of Markdown; at most 4096 bytes are kept."
    )


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


def schema_text(schema: JsonValue) -> str:
    """Format a schema as a block of JSON, on one line, because it is looked up rather than read."""
    shown = {name: each for name, each in schema.items() if name != "$schema"} if isinstance(schema, dict) else schema
    return fence_code(json.dumps(shown, ensure_ascii=False), "json")
