"""Lists which workflows a connected agent can start from a folder; unusable ones are reported, never left out."""

from collections.abc import Iterator

from handrail.errors import Untrusted
from handrail.frozen import frozen
from handrail.model.diagnostics import Diagnostic
from handrail.model.workflow.plan import Plan
from handrail.model.workflow.types import ChoiceType
from handrail.operations.pull.call_context import CallContext
from handrail.operations.pull.catalogue import PlaceSnapshot
from handrail.operations.pull.catalogue_cache import keep_list, read_list
from handrail.operations.pull.workflow_offer import InputOffer, ReferenceOffer, WorkflowOffer
from handrail.operations.workflows.check import CheckedWorkflow, reach
from handrail.operations.workflows.condition_text import input_type
from handrail.operations.workflows.inputs import task_input
from handrail.operations.workflows.list import WorkflowEntry, describe, is_routine
from handrail.sources.tiers import Location, Tier, WorkflowFile, folders_of
from handrail.sources.trust.store import TrustStore

ROUTINES = "routines"
_OF_PROFILE = {
    "coding": "coding",
    "review": "review_audit",
    "research": "investigation",
    "design": "design",
    "ticket": "tickets",
}
"""Tags of workflows that name none, by their metrics profile."""


@frozen
class TagCount:
    """A tag, how many workflows have it, and some of them."""

    tag: str
    count: int
    examples: tuple[str, ...]


@frozen
class WorkflowOffers:
    """The requested workflows of a place, and everything else to know about the place."""

    workflows: tuple[WorkflowOffer, ...]
    broken: tuple[WorkflowEntry, ...]
    """Files that cannot be used, each with its diagnostics."""
    tags: tuple[TagCount, ...]
    diagnostics: tuple[Diagnostic, ...]
    """What is wrong with the places in which workflows are looked up."""
    sources: tuple[str, ...]


def list_offers(ctx: CallContext, place: Location, tags: tuple[str, ...] = ()) -> WorkflowOffers:
    """List the workflows that can be started; with tags, only those that have one, and routines only by their tag."""
    seen = ctx.catalogue.view_from(place)
    wanted = {tag.casefold() for tag in tags} or None
    every = (
        *_list_offered(seen, shipped_routines=False),
        *(_list_offered(seen, shipped_routines=True) if ROUTINES in (wanted or ()) else ()),
    )
    usable = [each for each in every if each.about.valid or each.distrust]
    chosen = tuple(each for each in usable if _is_wanted(each, wanted))
    broken = tuple(each.about for each in every if not each.about.valid and not each.distrust)
    sources = tuple(place.display_path(folder) for folder in folders_of(place))
    return WorkflowOffers(chosen, broken, _count_tags(seen, usable), seen.diagnostics, sources)


def _is_wanted(each: WorkflowOffer, wanted: set[str] | None) -> bool:
    return not each.about.is_routine if wanted is None else any(tag.casefold() in wanted for tag in each.tags)


def _list_offered(seen: PlaceSnapshot, *, shipped_routines: bool) -> tuple[WorkflowOffer, ...]:
    """Describe every workflow that wins its name, and broken ones whether or not they do."""
    kept = seen.offered.get(shipped_routines)
    if kept is None and not shipped_routines:
        kept = read_list(seen.place, seen.stamp)
    if kept is None or any(each.about.form == "python" for each in kept):
        kept = tuple(_describe_workflows(seen, shipped_routines=shipped_routines))
        if not shipped_routines:
            keep_list(seen.place, seen.stamp, kept)
    seen.offered[shipped_routines] = kept
    return kept


def _describe_workflows(seen: PlaceSnapshot, *, shipped_routines: bool) -> Iterator[WorkflowOffer]:
    for found in seen.every:
        # A hidden built-in workflow is of no use to anybody, and as sound as it was shipped.
        hidden = not found.wins and found.tier is Tier.BUILT_IN
        if _is_shipped_routine(found) is shipped_routines and not hidden:
            told = describe_workflow(seen, found)
            yield from (told,) if found.wins or not told.about.valid else ()


def _is_shipped_routine(found: WorkflowFile) -> bool:
    return found.tier is Tier.BUILT_IN and is_routine(found.name)


def describe_workflow(seen: PlaceSnapshot, found: WorkflowFile) -> WorkflowOffer:
    """Describe one workflow."""
    checked = seen.check_workflow(found)
    plan = checked.plan
    about = describe(seen.place, checked)
    guided = plan.guided if plan is not None else None
    declared = guided.references if guided is not None else ()
    return WorkflowOffer(
        about=about,
        title=guided.title if guided is not None and guided.title else about.name,
        version=guided.version if guided is not None else None,
        tags=tags_of(about, plan),
        distrust=_distrust(seen, checked),
        inputs=_inputs(plan),
        references=tuple(ReferenceOffer(id=each.id, title=each.title, purpose=each.purpose) for each in declared),
    )


def _inputs(plan: Plan | None) -> tuple[InputOffer, ...]:
    """List the inputs of a workflow; a guided one takes only the goal."""
    if plan is None or plan.selection == "rescan":
        return ()
    goal = task_input(plan.inputs, {})
    return tuple(
        InputOffer(
            name=each.name,
            type=input_type(each),
            required=each.required,
            description=each.description,
            choices=each.type.values if isinstance(each.type, ChoiceType) else (),
            takes_goal=each is goal,
        )
        for each in plan.inputs
    )


def tags_of(about: WorkflowEntry, plan: Plan | None) -> tuple[str, ...]:
    """Return the tags by which a workflow is found: its own, or else its purpose; and the namespace of its id."""
    own = () if plan is None else plan.labels if plan.guided is None or not plan.guided.tags else plan.guided.tags
    if not own and plan is not None and plan.guided is not None and plan.guided.metrics_profile in _OF_PROFILE:
        own = (_OF_PROFILE[plan.guided.metrics_profile],)
    space, dot, _ = about.name.partition(".")
    namespace = (space,) if dot and space != "wr" else ()
    return tuple(dict.fromkeys((*own, *namespace, *((ROUTINES,) if about.is_routine else ()))))


def _distrust(seen: PlaceSnapshot, checked: CheckedWorkflow) -> str:
    """Explain why a workflow may not be started yet: something of a repository that it is made from is not trusted."""
    if any(each.code == Untrusted.code for each in checked.diagnostics):
        return "it is a Python workflow that has not been trusted"
    built_in = checked.found.tier is Tier.BUILT_IN and seen.catalog.bindings is None
    if built_in or checked.opened.snapshot is None or not checked.ok:
        return ""
    trust = TrustStore(seen.place.folders).status_of(reach(seen.place, checked, seen.catalog).contents)
    return "" if trust.is_granted else trust.reason


def _count_tags(seen: PlaceSnapshot, workflows: list[WorkflowOffer]) -> tuple[TagCount, ...]:
    named: dict[str, dict[str, None]] = {}
    for each in workflows:
        for tag in each.tags:
            named.setdefault(tag, {})[each.about.name] = None
    shipped = (found.name for found in seen.every if _is_shipped_routine(found) and found.wins)
    named.setdefault(ROUTINES, {}).update(dict.fromkeys(shipped))
    return tuple(TagCount(tag, len(names), tuple(names)[:5]) for tag, names in sorted(named.items()) if names)
