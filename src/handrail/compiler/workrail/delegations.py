"""Looks up the workflows to which a parallel step delegates work."""

from handrail.compiler.workrail.environment import StepContext
from handrail.compiler.workrail.message_names import describe_unknown
from handrail.model.source import Node, Scalar

PREFIX = "wr."
ROUTINE = "routine-"
HINT = "it is looked up by name in the user's, the repository's and the built-in workflows"


def note_unknown_workflow(node: Node | None, setting: StepContext) -> None:
    """Warn of a delegation to a workflow that is unknown here; the agent gets its name and may know one elsewhere."""
    name = str(node.value) if isinstance(node, Scalar) else ""
    if node is not None and not _is_known(name, setting):
        routines = (ROUTINE + name for name in setting.builtins.routine_names())
        message = describe_unknown("workflow", name, tuple(dict.fromkeys((*setting.catalog.names(), *routines))))
        setting.report.warning("unknown-workflow", message, node, HINT)


def _is_known(name: str, setting: StepContext) -> bool:
    bare = name.removeprefix(PREFIX)
    if bare.startswith(ROUTINE) and setting.builtins.routine(bare.removeprefix(ROUTINE)) is not None:
        return True
    return name in setting.catalog.names() or setting.catalog.workflow(name) is not None
