"""What WorkRail-style workflows declare beyond native ones: guided steps, their loops, contracts and assessments."""

from dataclasses import field
from typing import TYPE_CHECKING, Literal, TypeAlias

from handrail.frozen import frozen
from handrail.model.workflow.values import NOT_HASHED, ContextCondition, JsonValue, Prompt

if TYPE_CHECKING:
    from handrail.model.workflow.plan import Step

Tier: TypeAlias = Literal["lightweight", "mid", "heavy"]


@frozen
class Fragment:
    """Text added to a step's prompt if its condition holds when the prompt is rendered."""

    id: str
    text: str
    when: ContextCondition | None = None


@frozen
class Confirmation:
    """Whether, when and by whom a step must be confirmed."""

    required: bool = True
    condition: ContextCondition | None = None
    by: Literal["user", "coordinator_eval", "human_approval"] = "user"


@frozen
class ValidationRule:
    """One rule for the text that a step returns."""

    type: Literal["contains", "regex", "length", "schema"]
    message: str
    value: str | None = None
    pattern: str | None = None
    flags: str | None = None
    min: int | None = None
    max: int | None = None
    schema: JsonValue = None
    condition: ContextCondition | None = None
    kind: Literal["rule"] = "rule"


@frozen
class ValidationGroup:
    """Rules combined."""

    operator: Literal["and", "or", "not"]
    parts: tuple["Validation", ...]
    kind: Literal["group"] = "group"


Validation: TypeAlias = ValidationRule | ValidationGroup


@frozen
class Contract:
    """A pack's schema for an artifact that a step must return, expanded so that the plan needs no library."""

    ref: str
    artifact_kind: str
    schema: JsonValue
    required: bool = True


@frozen
class Consequence:
    """What a level in an assessment leads to: the same step again, with guidance."""

    any_equals_level: str
    guidance: str
    for_assessment: str | None = None


@frozen
class FunctionParameter:
    """One parameter of a described function."""

    name: str
    type: str
    required: bool = False
    description: str = ""
    enum: tuple[JsonValue, ...] = ()
    default: JsonValue = None


@frozen
class FunctionDefinition:
    """A named piece of guidance that prompts refer to like a function."""

    name: str
    definition: str
    parameters: tuple[FunctionParameter, ...] = ()
    scope: Literal["workflow", "loop", "step"] = "workflow"


@frozen
class Verification:
    """A command that must pass after the step, or a question to verify it by."""

    command: str | None = None
    prompt: str | None = None


@frozen
class Audit:
    """A second look at the step's work, by a rubric."""

    prompt: str
    rubric: tuple[str, ...] = ()


@frozen(kw_only=True)
class GuidedAction:
    """A step that an agent is guided through: its prompt, what it must return, and what follows from that."""

    title: str
    prompt: Prompt
    agent_role: str | None = None
    guidance: tuple[str, ...] = ()
    fragments: tuple[Fragment, ...] = ()
    ask_for_files: bool = False
    notes_optional: bool = False
    confirmation: Confirmation | None = None
    validation: Validation | None = None
    contract: Contract | None = None
    assessments: tuple[str, ...] = ()
    consequences: tuple[Consequence, ...] = ()
    functions: tuple[FunctionDefinition, ...] = ()
    """Definitions the prompt may refer to: the workflow's and the step's own, those it names first."""
    model_tier: Tier | None = None
    verification: Verification | None = None
    audit: Audit | None = None
    kind: Literal["guided"] = "guided"


@frozen
class ArtifactDecides:
    """The newest loop-control artifact of the body decides whether another round follows."""

    contract: str
    loop_id: str | None = None
    kind: Literal["artifact"] = "artifact"


@frozen
class ContextDecides:
    """A condition over the context decides."""

    condition: ContextCondition
    kind: Literal["context"] = "context"


@frozen(kw_only=True)
class GuidedLoopAction:
    """A loop by WorkRail's rules: the decision is made again before every step of the body."""

    loop: Literal["while", "until", "for", "forEach"]
    max_iterations: int
    steps: tuple["Step", ...]
    title: str = ""
    decides: ArtifactDecides | ContextDecides | None = None
    count: int | str | None = None
    """Rounds of `for`: a number, or the context variable that holds it."""
    items: str | None = None
    """The context variable that `forEach` iterates over."""
    iteration_var: str = "currentIteration"
    item_var: str = "currentItem"
    index_var: str = "currentIndex"
    confirmation: Confirmation | None = None
    functions: tuple[FunctionDefinition, ...] = ()
    notes_optional: bool = False
    kind: Literal["guided-loop"] = "guided-loop"


@frozen
class Delegation:
    """One piece of work delegated to another workflow."""

    workflow: str
    goal: str | None = None
    when: ContextCondition | None = None
    context: tuple[tuple[str, str], ...] = ()
    """Names of the parent's context with the names the child sees."""
    args: tuple[tuple[str, str], ...] = ()
    model_tier: Tier | None = None
    allowed_tools: tuple[str, ...] | None = None


@frozen(kw_only=True)
class DelegateAction:
    """Several delegations at once, and the synthesis of their results."""

    title: str
    delegations: tuple[Delegation, ...]
    synthesis: Prompt | None = None
    synthesis_contract: Contract | None = None
    confirmation: Confirmation | None = None
    notes_optional: bool = False
    kind: Literal["delegate"] = "delegate"


@frozen
class Dimension:
    """One thing that is judged."""

    id: str
    purpose: str
    levels: tuple[str, ...]
    required: bool = True


@frozen
class Assessment:
    """A judgment that an agent must give in fixed levels, with its reasons."""

    id: str
    purpose: str
    dimensions: tuple[Dimension, ...]
    rationale_required: bool = True


@frozen
class Reference:
    """A document the agent should know of; only the declaration counts, never the file."""

    id: str
    title: str
    source: str
    purpose: str
    authoritative: bool = False
    resolve_from: Literal["workspace", "package"] = "workspace"


@frozen
class Capability:
    """Something the agent must or should be able to do."""

    name: str
    level: Literal["required", "preferred"]


@frozen
class FeatureUse:
    """A feature that was applied, with its configuration."""

    id: str
    config: JsonValue = None


@frozen
class Slot:
    """An extension point with what it was bound to, and whether the project did that."""

    id: str
    purpose: str
    bound_to: str
    overridden: bool = False
    accepts: tuple[str, ...] = ()


@frozen(kw_only=True)
class GuidedWorkflow:
    """Everything a WorkRail-style workflow declares beside its steps."""

    version: str | None = field(default=None, metadata=NOT_HASHED)
    """A label for people: what is pinned is the content."""
    title: str = ""
    about: str = ""
    examples: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    preconditions: tuple[str, ...] = ()
    clarification_prompts: tuple[str, ...] = ()
    meta_guidance: tuple[str, ...] = ()
    agent_role: str | None = None
    capabilities: tuple[Capability, ...] = ()
    features: tuple[FeatureUse, ...] = ()
    slots: tuple[Slot, ...] = ()
    references: tuple[Reference, ...] = ()
    functions: tuple[FunctionDefinition, ...] = ()
    autonomy: str | None = None
    risk_policy: str | None = None
    model_tier: Tier | None = None
    metrics_profile: str | None = None
