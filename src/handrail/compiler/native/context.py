"""The state carried along while a native workflow is lowered: its report, the names in force and the defaults."""

import re
from collections.abc import Collection, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

from handrail.authoring.native.schema import WORKFLOW
from handrail.compiler.catalog import Catalog
from handrail.compiler.outcome import StepPositions
from handrail.compiler.scope import Scope
from handrail.frozen import frozen
from handrail.language.problems import Problem
from handrail.language.templates.parse import Template
from handrail.late_import import late_import
from handrail.model.diagnostics import Report
from handrail.model.names import make_identifier
from handrail.model.source import Document, Mapping, Node, Scalar, Sequence, SourceText
from handrail.model.suggest import did_you_mean, suggest
from handrail.model.workflow.guidance import (
    Assessment,
    Capability,
    Consequence,
    FeatureUse,
    GuidedWorkflow,
    Reference,
    Slot,
)
from handrail.model.workflow.types import Type
from handrail.model.workflow.values import Prompt

if TYPE_CHECKING:
    from handrail.authoring.readers import locate
    from handrail.authoring.shapes import aliases
else:
    aliases = late_import("handrail.authoring.shapes.aliases")
    locate = late_import("handrail.authoring.readers.locate")

STEPS_BEFORE = re.compile(r"(?<![\w.])steps\.$")


@frozen
class ReadPrompt:
    """A prompt file, read once: its text without the header, and the offset at which that text begins."""

    prompt: Prompt
    template: Template | None
    source: SourceText
    base: int


@dataclass(slots=True)
class Conversation:
    """An earlier step whose conversation can be continued."""

    step: str
    agent: str | None


@frozen
class OutputProducer:
    """The step that produces an output, and the fan-out outside of which that output is unknown."""

    step: str
    only_inside: str | None = None


@dataclass(slots=True)
class StepCounter:
    """A counter that a lowering shares with those of the routines it expands."""

    steps: int = 0


@dataclass(slots=True)
class RunGuidance:
    """The guidance for the whole run, from the workflow and the routines that it inlines."""

    guidance: dict[str, None] = field(default_factory=dict[str, None])
    references: dict[str, Reference] = field(default_factory=dict[str, Reference])
    capabilities: dict[str, Capability] = field(default_factory=dict[str, Capability])
    features: dict[str, FeatureUse] = field(default_factory=dict[str, FeatureUse])
    slots: dict[str, Slot] = field(default_factory=dict[str, Slot])

    def workflow(self) -> GuidedWorkflow | None:
        """Return the guidance in the form of the plan; None where there is none."""
        found = GuidedWorkflow(
            meta_guidance=tuple(self.guidance),
            references=tuple(self.references.values()),
            capabilities=tuple(self.capabilities[name] for name in sorted(self.capabilities)),
            features=tuple(self.features.values()),
            slots=tuple(self.slots.values()),
        )
        return None if found == GuidedWorkflow() else found


@dataclass(slots=True)
class Lowering:
    """The state of one lowering; `defaults` holds what the enclosing workflow and steps set for the steps inside."""

    document: Document
    catalog: Catalog
    report: Report
    places: StepPositions
    scope: Scope
    defaults: dict[str, Node] = field(default_factory=dict[str, Node])
    later: dict[str, "OutputProducer"] = field(default_factory=dict[str, "OutputProducer"])
    """Outputs by name, with the step that produces them, wherever in the workflow that is."""
    talks: list[Conversation] = field(default_factory=list[Conversation])
    prompts: dict[str, ReadPrompt | None] = field(default_factory=dict[str, "ReadPrompt | None"])
    assessments: dict[str, Assessment] = field(default_factory=dict[str, Assessment])
    follow_ups: dict[str, tuple[Consequence, ...]] = field(default_factory=dict[str, "tuple[Consequence, ...]"])
    """The consequences of assessment levels, by the name of the assessment in this document."""
    guides: RunGuidance = field(default_factory=RunGuidance)
    bindings: dict[str, str] = field(default_factory=dict[str, str])
    """The ids to which the slots of this document are bound."""
    feature_lines: str = ""
    """The text that the features of this document append to every prompt in it."""
    earlier: dict[str, str] = field(default_factory=dict[str, str])
    """The earlier steps of the same list, with their kind."""
    using: tuple[str, ...] = ()
    """The routines that are being expanded, outermost first."""
    count: "StepCounter" = field(default_factory=StepCounter)
    """The number of steps lowered so far, including those of inlined routines."""

    def explain(self, problems: Iterable[Problem], scalar: Scalar, *, warn: bool = False) -> None:
        """Report the problems that the expression language found in a scalar's text."""
        say = self.report.warning if warn else self.report.error
        for problem in problems:
            said = self.improve_problem(problem, str(scalar.value))
            say(said.code, said.message, locate.span_at(scalar, said.start, said.end), said.hint)

    def improve_problem(self, problem: Problem, text: str) -> Problem:
        """Improve the message about an unknown name, for example where a later step produces it."""
        name = text[problem.start : problem.end].strip("${}").split(".")[0]
        if problem.code == "unknown-field" and STEPS_BEFORE.search(text[: problem.start]):
            return self._no_such_step(problem, name)
        if problem.code == "unknown-field" and name == "prompt" and text[: problem.start].endswith("current_step."):
            message = "current_step.prompt is available only in a handoff template"
            return replace(problem, message=message, hint="put it in a file and name the file: handoff: NAME.md")
        if problem.code not in ("unknown-name", "unknown-shell-name"):
            return problem
        maker = self.later.get(name)
        if maker is None:
            return self._step_for_value(problem, name)
        if maker.only_inside is not None:
            message = f"'{name}' is available only inside step '{maker.only_inside}'"
            hint = f"outside, its results are steps.{make_identifier(maker.only_inside)}.output, one per item"
            return replace(problem, code="unknown-name", message=message, hint=hint)
        hint = f"step '{maker.step}' must come before this one"
        message = f"'{name}' is used before it is produced by step '{maker.step}'"
        return replace(problem, code="used-before-produced", message=message, hint=hint)

    def _step_for_value(self, problem: Problem, name: str) -> Problem:
        """Improve the message about an unknown name where a step has that name."""
        if name not in self.scope.steps.names() or suggest(name, self.scope.names):
            return problem
        hint = f"write steps.{name}.output, or give that step the key `output: {name}`"
        return replace(problem, code="unknown-name", message=f"'{name}' is a step, not a value", hint=hint)

    def _no_such_step(self, problem: Problem, name: str) -> Problem:
        known = self.scope.steps.names()
        message = f"no earlier step is called '{name}'{did_you_mean(name, known)}"
        hint = "available here: " + (
            ", ".join(f"steps.{each}" for each in known) or "none, since a step sees only the steps before it"
        )
        return replace(problem, code="unknown-step", message=message, hint=hint)

    @contextmanager
    def enter_body(
        self, node: Mapping, names: dict[str, Type], *, leaks: bool, own: Collection[str] = ()
    ) -> Generator[None]:
        """Enter a body: add its names, and use the agent settings of its step as defaults."""
        outer, talks, earlier = self.defaults, len(self.talks), self.earlier
        self.earlier = {}
        self.defaults = {**outer, **{entry.name: entry.value for entry in node if entry.name in INHERITED}}
        try:
            with self.scope.enter_body(names, leaks=leaks, own=own):
                yield
        finally:
            self.defaults, self.earlier = outer, earlier
            if not leaks:
                del self.talks[talks:]

    def setting(self, node: Mapping, key: str) -> Node | None:
        """Return a step's value for a key, or else the default for it."""
        found = node.get(key)
        return found if found is not None else self.defaults.get(key)


GUIDING = frozenset({"guidance", "references", "features", "capabilities", "extension_points", "assessments"})
"""Keys of a workflow that guide all of its steps."""
INHERITED = frozenset(
    {
        "agent",
        "model",
        "access",
        "handoff",
        "role",
        "system_prompt",
        "single_turn",
        "suppress_thoughts",
        "no_comment",
        "allowed_tools",
        "disallowed_tools",
        "handrail_tools",
        "idle_timeout",
        "tmux",
        "sandbox",
    }
)
"""Settings that a step with a body passes on to the steps inside."""


def with_own_words(document: Document, report: Report) -> Document:
    """Give a checked document with every key under the format's own word for it."""
    root = document.root
    if report.dropped or any(found.code == "other-word" for found in report):
        root = cast("Mapping", aliases.rename_aliases(WORKFLOW, root))
    return replace(document, root=root)


def text_of(node: Node | None) -> str | None:
    """Return a node's text, or None where it is not text."""
    return node.value if isinstance(node, Scalar) and isinstance(node.value, str) else None


def int_of(node: Node | None, default: int) -> int:
    """Return a node's integer, or the default."""
    value = node.value if isinstance(node, Scalar) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else default


def flag_of(node: Node | None, *, default: bool = False) -> bool:
    """Return a node's boolean, or the default."""
    return node.value if isinstance(node, Scalar) and isinstance(node.value, bool) else default


def texts_of(node: Node | None) -> tuple[str, ...]:
    """Return the texts of a list, or of the single text that stands for a list."""
    if isinstance(node, Sequence):
        return tuple(text for text in map(text_of, node.items) if text is not None)
    text = text_of(node)
    return () if text is None else (text,)


def seconds(node: Node | None) -> int | None:
    """Convert a duration such as 1h30m to seconds, between one second and a century."""
    text = text_of(node)
    if text is None:
        return None
    total, digits, unit = 0.0, "", ""
    # The appended digit ends the last unit, which is otherwise ended by the next number.
    for character in text + "0":
        if character.isdigit():
            if unit:
                total += int(digits) * UNITS.get(unit, 0)
                digits, unit = "", ""
            digits += character
        else:
            unit += character
    return max(1, min(round(total), CENTURY))


CENTURY = 100 * 365 * 86400
UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}
