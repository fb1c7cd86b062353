"""Everything about one workflow."""

from collections.abc import Iterator
from typing import TypeAlias

from handrail.compiler.bounds import Bound, count_agent_calls
from handrail.compiler.scope import names_at
from handrail.errors import InvalidWorkflow, Untrusted
from handrail.frozen import frozen
from handrail.model.diagnostics import Diagnostic
from handrail.model.parts import parts, walk_steps
from handrail.model.workflow.actions import CallAction
from handrail.model.workflow.guidance import Delegation, Reference
from handrail.model.workflow.plan import Input, Plan
from handrail.model.workflow.values import Prompt
from handrail.operations.workflows.check import check, reach
from handrail.operations.workflows.find_targets import find_one_workflow
from handrail.operations.workflows.list import WorkflowEntry, describe
from handrail.operations.workflows.outline import OutlineStep, outline
from handrail.sources.open_workflow import catalog_for
from handrail.sources.tiers import Location
from handrail.sources.trust.store import Trust, TrustStore

CallBound: TypeAlias = Bound
"""How many calls of agents a workflow makes."""


@frozen
class UsedFile:
    """A file of which the workflow consists."""

    path: str
    role: str
    version: str | None = None
    used_by: tuple[str, ...] = ()


@frozen(kw_only=True)
class Inspection:
    """The details of one workflow; an invalid one shows what could be read."""

    about: WorkflowEntry
    trust: Trust | None
    inputs: tuple[Input, ...] = ()
    steps: tuple[OutlineStep, ...] = ()
    references: tuple[Reference, ...] = ()
    calls: tuple[str, ...] = ()
    """Other workflows that it starts."""
    bound: Bound | None = None
    files: tuple[UsedFile, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def exit_code(self) -> int:
        """The exit code: 0, 4 if it is invalid, 3 if it still has to be trusted."""
        errors = {each.code for each in self.diagnostics if each.is_error}
        if errors == {Untrusted.code}:
            return Untrusted.exit_code
        return 0 if self.about.valid else InvalidWorkflow.exit_code


def inspect_workflow(place: Location, name_or_path: str, *, expand: bool = False) -> Inspection:
    """Find, compile and describe a workflow."""
    catalog = catalog_for(place)
    checked = check(place, find_one_workflow(place, name_or_path), catalog, advise="plain")
    about = describe(place, checked)
    read = () if checked.opened.snapshot is None else reach(place, checked, catalog).contents
    trust = TrustStore(place.folders).status_of(read) if read else None
    main = UsedFile(about.path, "main")
    plan = checked.plan
    if plan is None:
        return Inspection(about=about, trust=trust, files=(main,), diagnostics=checked.diagnostics)
    return Inspection(
        about=about,
        trust=trust,
        inputs=plan.inputs,
        steps=outline(plan, names_at(plan), expand=expand),
        references=plan.guided.references if plan.guided is not None else (),
        calls=tuple(dict.fromkeys(_calls(plan))),
        bound=count_agent_calls(plan, catalog),
        files=(main, *_prompts(plan)),
        diagnostics=checked.diagnostics,
    )


def _prompts(plan: Plan) -> Iterator[UsedFile]:
    versions: dict[str, str | None] = {}
    users: dict[str, list[str]] = {}
    for address, step in walk_steps(plan.steps):
        for prompt in parts(step.action, Prompt):
            if prompt.file is not None:
                versions[prompt.file] = prompt.version
                users.setdefault(prompt.file, []).append(address)
    for path, addresses in users.items():
        yield UsedFile(path, "prompt", versions[path], tuple(dict.fromkeys(addresses)))


def _calls(plan: Plan) -> Iterator[str]:
    for _, step in walk_steps(plan.steps):
        if isinstance(step.action, CallAction):
            yield step.action.workflow
        yield from (each.workflow for each in parts(step.action, Delegation))
