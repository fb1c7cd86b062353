"""How a step's access answers an agent that asks for permission over the Agent Client Protocol."""

from typing import Any, cast

from handrail.agents.claude.guard import explain_outside

READING = frozenset({"read", "search", "think", "fetch"})
CHANGING = frozenset({"edit", "delete", "move"})
NEVER = frozenset({"switch_mode"})
"""Never granted: in another mode the agent might not ask any more."""

Message = dict[str, Any]


def refusal(access: str, workspace: str, call: Message) -> str:
    """Return why a tool call is not granted; empty where it is."""
    kind = str(call.get("kind") or "other")
    if access == "full":
        return ""
    if kind in NEVER:
        return "the agent may not change its own mode"
    if kind in READING:
        return ""
    if access == "read":
        return f"this step may only read (`access: read`), but this call is of kind '{kind}'"
    return _explain_outside(workspace, call) if kind in CHANGING else ""


def answer(params: Message, why: str, access: str) -> Message:
    """Choose among the options that the agent offers: once and never always, since that would outlast the question."""
    kinds = (
        ("reject_once", "reject_always") if why else ("allow_once", *(("allow_always",) if access == "full" else ()))
    )
    options = [each for each in _maps(params.get("options")) if each.get("kind") in kinds]
    options.sort(key=lambda each: kinds.index(str(each["kind"])))
    if not options:
        return {"outcome": {"outcome": "cancelled"}}
    return {"outcome": {"outcome": "selected", "optionId": options[0].get("optionId")}}


def _explain_outside(workspace: str, call: Message) -> str:
    """Return why a change is not granted: it is outside the workspace, or the agent does not say where it is."""
    places = [str(each.get("path") or "") for each in _maps(call.get("locations"))]
    places += [
        str(each["path"]) for each in _maps(call.get("content")) if each.get("type") == "diff" and "path" in each
    ]
    if not places:
        return "the agent did not say which file it wants to change"
    return next((why for place in places if (why := explain_outside(place, workspace, workspace))), "")


def _maps(value: object) -> list[Message]:
    return (
        [cast("Message", each) for each in cast("list[object]", value) if isinstance(each, dict)]
        if isinstance(value, list)
        else []
    )
