"""The call of an agent as its recorded intent asks for it, its cost as budgets count it, and its result."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from handrail.engine.contracts.returns import Misfit, ask_again, check_type
from handrail.engine.text.plain_json import read_plain
from handrail.late_import import late_import
from handrail.model.history.events import QuestionAsked, StepBegan, StepEnded, WorkReported
from handrail.model.history.named_blobs import Stream, StreamPart
from handrail.model.history.prices import PriceList, estimate
from handrail.model.history.run_state import Pending, RunState
from handrail.model.workflow.settings import Access
from handrail.model.workflow.types import SchemaType, Type
from handrail.model.workflow.values import JsonValue
from handrail.ports.agents import Abilities, AgentCall, AgentOutcome, Usage
from handrail.ports.log import Blobs
from handrail.runtime.handlers.agents.hindrances import Answered
from handrail.runtime.handlers.agents.host import launch_options

if TYPE_CHECKING:
    from handrail.engine.contracts import result_in_text
else:
    result_in_text = late_import("handrail.engine.contracts.result_in_text")

NOTE = "project_files.json"
"""The file beside a call that says which files of the repository could have configured the agent."""

PART = 1 << 20
"""Size of the pieces in which an agent's output is stored, in bytes; a piece is shorter if it ends with a line."""


def inputs_of(place: Path) -> Path:
    """Return the folder with the input files of a call."""
    return place.with_name(f"{place.name}.input")


def attach_project_files(place: Path, judged: Answered) -> Answered:
    """Record which files of the repository could have configured the agent, and whether they did."""
    note = inputs_of(place) / NOTE
    if not isinstance(judged, StepEnded) or not note.exists():
        return judged
    return replace(judged, details={**judged.details, "project_files": json.loads(note.read_bytes())})


def attach_printed_output(blobs: Blobs, data: bytes, judged: Answered) -> Answered:
    """Record the agent's output in pieces, so that a reader can open any part of it."""
    if not data or not isinstance(judged, StepEnded | QuestionAsked):
        return judged
    return replace(judged, printed=keep_stream(blobs, data))


def keep_stream(blobs: Blobs, data: bytes) -> Stream:
    """Store an output in pieces of about a megabyte that end with a line, unless a line is longer than that."""
    parts: list[StreamPart] = []
    start = 0
    while start < len(data):
        end = start + PART
        if end < len(data):
            end = data.rfind(b"\n", start, end) + 1 or end
        piece = data[start:end]
        parts.append(StreamPart(blobs.put_blob(piece), len(piece)))
        start = end
    return tuple(parts)


def _script_path(place: Path, digest: str) -> Path:
    """Return the file of a run in which a script is put for all its calls; `place` is `RUN/SEQ/SLOT`."""
    return place.parents[1] / f"script-{digest.rpartition(':')[2][:16]}.yaml"


def put_script(blobs: Blobs, options: Mapping[str, str]) -> None:
    """Put the script of a played agent where its adapter reads it, unless an earlier call did."""
    path = Path(options["script"])
    if not path.exists():
        draft = path.with_suffix(".tmp")
        draft.write_bytes(blobs.get_blob(options["digest"]))
        draft.replace(path)


def call_of(state: RunState, pending: Pending, spec: dict[str, Any], place: Path) -> AgentCall:
    """Build the call that an intent asks for."""
    script = {"script": str(_script_path(place, state.script)), "digest": state.script} if state.script else {}
    return AgentCall(
        run=state.run,
        address=pending.address,
        turn=int(spec["turn"]),
        turn_in_round=int(spec.get("turn_in_round", 1)),
        prompt=str(spec["prompt"]),
        workspace=state.workspace,
        model=spec.get("model"),
        access=cast("Access", spec.get("access", "edit")),
        system_prompt=spec.get("system_prompt"),
        session=spec.get("session") or None,
        single_turn=bool(spec.get("single_turn")),
        allowed_tools=None if spec.get("allowed_tools") is None else tuple(spec["allowed_tools"]),
        disallowed_tools=tuple(spec.get("disallowed_tools", ())),
        no_comment=bool(spec.get("no_comment")),
        schema=spec.get("schema"),
        options={**script, **launch_options(spec)},
    )


def inline_system_prompt(can: Abilities, call: AgentCall, *, goes_on: bool) -> AgentCall:
    """Put the system prompt before the prompt for an agent that supports none, unless the conversation has it."""
    if can.system_prompt or not call.system_prompt:
        return call
    prompt = call.prompt if goes_on else f"{call.system_prompt}\n\n{call.prompt}"
    return replace(call, prompt=prompt, system_prompt=None)


def subtract_earlier_usage(state: RunState, began: StepBegan, outcome: AgentOutcome) -> AgentOutcome:
    """Subtract earlier use of the conversation, where its agent reports the total instead of this call's usage."""
    before = state.used.get(str(began.spec.get("session") or ""))
    if outcome.total is None or not isinstance(before, list) or outcome.session != began.spec.get("session"):
        return outcome
    return replace(outcome, usage=outcome.total.beyond(Usage(*cast("list[int]", before))))


def compute_spending(
    usage: Usage, cost: float | None, spec: dict[str, JsonValue], seconds: float, prices: PriceList
) -> dict[str, float]:
    """Return what a call used; a cost that its agent does not report is estimated."""
    told = cost is not None or not usage.tokens
    about = None if told else _estimate_cost(usage, spec, prices)
    return {
        "usd": cost or about or 0.0,
        "estimated": about or 0.0,
        "tokens": usage.tokens,
        "agent_calls": 1,
        "unpriced": 0 if told or about is not None else 1,
        "seconds": max(0.0, round(seconds, 3)),
    }


def _estimate_cost(usage: Usage, spec: dict[str, JsonValue], prices: PriceList) -> float | None:
    """Estimate the cost of a call from the price list; None where the model is not listed."""
    agent, _, model = str(spec.get("priced_as") or f"{spec.get('agent', '')}/{spec.get('model', '')}").partition("/")
    price = prices.find(agent, model)
    if price is None:
        return None
    return estimate(price, read=usage.input_tokens, written=usage.output_tokens, cached=usage.cached_tokens)


def split_answer(outcome: AgentOutcome, spec: dict[str, JsonValue]) -> tuple[AgentOutcome, list[JsonValue] | None]:
    """Split an answer into the result and the artifacts that the step asks for; None where it asks for none.

    An answer without these parts is all result: what is missing is asked for again.
    """
    if outcome.status != "ok" or not (spec.get("assessments") or spec.get("capabilities")):
        return outcome, None
    found = outcome.output if outcome.has_output else result_in_text.find_result(outcome.text)
    if not isinstance(found, dict) or "artifacts" not in found:
        return outcome, []
    result, artifacts = found.get("result"), found["artifacts"]
    parted = replace(outcome, output=result, has_output="result" in found)
    return parted, artifacts if isinstance(artifacts, list) else [artifacts]


def extract_result(returns: Type, report: WorkReported) -> tuple[JsonValue, bool]:
    """Return the result that a connected agent submitted; an artifact of the contract's kind counts as one, too."""
    schema = read_plain(returns.schema) if isinstance(returns, SchemaType) and not report.has_output else None
    parts = schema.get("properties") if isinstance(schema, dict) else None
    kind = parts.get("kind") if isinstance(parts, dict) else None
    wanted = kind.get("const") if isinstance(kind, dict) else None
    found = [each for each in report.artifacts if isinstance(each, dict) and wanted and each.get("kind") == wanted]
    return (found[-1], True) if found else (report.output, report.has_output)


def fit_result(outcome: AgentOutcome, returns: Type) -> tuple[JsonValue, str, dict[str, JsonValue]]:
    """Return the result that was asked for, or what is wrong with the one that came."""
    found = outcome.output if outcome.has_output else result_in_text.find_result(outcome.text, returns)
    verdict = check_type(returns, found)
    if isinstance(verdict, Misfit):
        error = f"the result does not have the required form: {verdict.problems[0]}"
        return outcome.text, error, {"feedback": ask_again(returns, verdict.problems)}
    return verdict.value, "", {}
