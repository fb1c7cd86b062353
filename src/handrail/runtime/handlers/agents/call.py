"""The call of an agent, as its recorded intent asks for it."""

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from handrail.model.history.run_state import Pending, RunState
from handrail.model.workflow.settings import Access
from handrail.ports.agents import Abilities, AgentCall
from handrail.runtime.handlers.agents.sandbox import manner_of


def call_of(state: RunState, pending: Pending, spec: dict[str, Any], place: Path) -> AgentCall:
    """Give the call that an intent asks for."""
    script = {"script": str(place.with_name("script.yaml")), "digest": state.script} if state.script else {}
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
        schema=spec.get("schema"),
        options={**script, **manner_of(spec)},
    )


def spoken(can: Abilities, call: AgentCall, *, goes_on: bool) -> AgentCall:
    """Put the system prompt before the prompt for an agent that takes none, where it did not hear it before."""
    if can.system_prompt or not call.system_prompt:
        return call
    prompt = call.prompt if goes_on else f"{call.system_prompt}\n\n{call.prompt}"
    return replace(call, prompt=prompt, system_prompt=None)
