"""Handrail: run coding agents along workflows you can trust, stop and rewind.

The objects that a workflow.py is written with can be imported from here, and `handrail.open()` gives a program the
runs of its user; all of it is loaded when first asked for.
"""

TYPE_CHECKING = False  # as `typing` has it, which a keeper of a command would wait for
if TYPE_CHECKING:
    from handrail.authoring.python.objects import (
        Agent,
        AgentLoop,
        Approval,
        Assess,
        Body,
        Budget,
        Call,
        Changed,
        Commit,
        Concurrency,
        Converge,
        CreateIssues,
        Defaults,
        Dimension,
        End,
        EventTrigger,
        Exists,
        Expect,
        ExtensionPoint,
        Fails,
        Feature,
        FileCheck,
        Fix,
        FlowContext,
        Follow,
        Gate,
        Input,
        IssueTrigger,
        Loop,
        Merge,
        ParallelAgents,
        Passes,
        Procedure,
        PromptRequest,
        PullRequest,
        PullRequestTrigger,
        Reference,
        Report,
        ResolveContext,
        Retry,
        Review,
        Role,
        Sandbox,
        Schedule,
        Script,
        Step,
        Subroutine,
        Unchanged,
        Use,
        Workflow,
    )
    from handrail.client import open_client

    open = open_client  # noqa: A001 (as `handrail.open`; `import *` leaves the built-in one alone)

__version__ = "0.1.0"

__all__ = [
    "Agent",
    "AgentLoop",
    "Approval",
    "Assess",
    "Body",
    "Budget",
    "Call",
    "Changed",
    "Commit",
    "Concurrency",
    "Converge",
    "CreateIssues",
    "Defaults",
    "Dimension",
    "End",
    "EventTrigger",
    "Exists",
    "Expect",
    "ExtensionPoint",
    "Fails",
    "Feature",
    "FileCheck",
    "Fix",
    "FlowContext",
    "Follow",
    "Gate",
    "Input",
    "IssueTrigger",
    "Loop",
    "Merge",
    "ParallelAgents",
    "Passes",
    "Procedure",
    "PromptRequest",
    "PullRequest",
    "PullRequestTrigger",
    "Reference",
    "Report",
    "ResolveContext",
    "Retry",
    "Review",
    "Role",
    "Sandbox",
    "Schedule",
    "Script",
    "Step",
    "Subroutine",
    "Unchanged",
    "Use",
    "Workflow",
    "__version__",
]


def __getattr__(name: str) -> object:
    if name == "open":
        from handrail.client import open_client

        return open_client
    if name not in __all__:
        raise AttributeError(f"module 'handrail' has no attribute {name!r}")
    from handrail.authoring.python import objects

    return getattr(objects, name)


def __dir__() -> list[str]:
    return sorted((*__all__, "open"))
