"""What a step asks of its agent and the agent cannot be held to: refused with the reason, never passed over."""

from handrail.ports.agents import Abilities, AgentCall


def unmet(name: str, can: Abilities, call: AgentCall) -> tuple[str, ...]:
    """Say what of a call the agent cannot do; nothing where it can do all of it."""
    asked = (
        (call.access not in can.access, f"`access: {call.access}` cannot be enforced"),
        (bool(call.disallowed_tools) and not can.tools, "`disallowed_tools` cannot be enforced"),
        (call.allowed_tools is not None and not can.tools, "`allowed_tools` cannot be enforced"),
        (call.single_turn and not can.single_turn, "`single_turn` cannot be enforced"),
        (call.server is not None and not can.mcp, "it cannot be given tools of Handrail (`handrail_tools`)"),
        (bool(call.session) and not can.resume, "a conversation cannot go on"),
        (call.model is not None and not can.model, "the model cannot be chosen"),
    )
    return tuple(f"{name}: {what}" for missing, what in asked if missing)
