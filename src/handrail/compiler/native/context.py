"""What lowering a native workflow carries along: where it reports, what names are in force, which defaults apply."""

import re
from collections.abc import Collection, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

from handrail.authoring.native.schema import WORKFLOW
from handrail.compiler.catalog import Catalog
from handrail.compiler.outcome import Places
from handrail.compiler.scope import Scope
from handrail.frozen import frozen
from handrail.language.problems import Problem
from handrail.language.templates.parse import Template
from handrail.late_import import late_import
from handrail.model.diagnostics import Report
from handrail.model.names import spoken
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
    """A prompt file, read once: its text without the header, and where that text begins."""

    prompt: Prompt
    template: Template | None
    source: SourceText
    base: int


@dataclass(slots=True)
class Talk:
    """An earlier step whose conversation can go on."""

    step: str
    agent: str | None


@frozen
class Maker:
    """The step that produces an output, and the fan-out outside of which that output is not known."""

    step: str
    only_inside: str | None = None


@dataclass(slots=True)
class Count:
    """A number that a lowering shares with those of the routines it expands."""

    steps: int = 0


@dataclass(slots=True)
class Guides:
    """What guides the whole run: what a workflow declares, and the routines that it uses in place."""

    guidance: dict[str, None] = field(default_factory=dict[str, None])
    references: dict[str, Reference] = field(default_factory=dict[str, Reference])
    capabilities: dict[str, Capability] = field(default_factory=dict[str, Capability])
    features: dict[str, FeatureUse] = field(default_factory=dict[str, FeatureUse])
    slots: dict[str, Slot] = field(default_factory=dict[str, Slot])

    def workflow(self) -> GuidedWorkflow | None:
        """Give it as the plan holds it; None where there is nothing."""
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
    """The state of one lowering; `defaults` is what the enclosing workflow and steps say for those inside."""

    document: Document
    catalog: Catalog
    report: Report
    places: Places
    scope: Scope
    defaults: dict[str, Node] = field(default_factory=dict[str, Node])
    later: dict[str, "Maker"] = field(default_factory=dict[str, "Maker"])
    """Outputs by name, with the step that produces them, wherever it stands."""
    talks: list[Talk] = field(default_factory=list[Talk])
    prompts: dict[str, ReadPrompt | None] = field(default_factory=dict[str, "ReadPrompt | None"])
    assessments: dict[str, Assessment] = field(default_factory=dict[str, Assessment])
    follow_ups: dict[str, tuple[Consequence, ...]] = field(default_factory=dict[str, "tuple[Consequence, ...]"])
    """What follows from the levels of the assessments that this document names."""
    guides: Guides = field(default_factory=Guides)
    bindings: dict[str, str] = field(default_factory=dict[str, str])
    """What the slots of this document are bound to."""
    feature_lines: str = ""
    """What the features of this document put after every prompt in it."""
    earlier: dict[str, str] = field(default_factory=dict[str, str])
    """Steps before this one in the same list, with their kind."""
    using: tuple[str, ...] = ()
    """Routines that are being expanded, outermost first."""
    count: "Count" = field(default_factory=Count)
    """Steps lowered so far, those of routines in place included."""

    def explain(self, problems: Iterable[Problem], scalar: Scalar, *, warn: bool = False) -> None:
        """Report what the language found in a scalar's text."""
        say = self.report.warning if warn else self.report.error
        for problem in problems:
            said = self.better(problem, str(scalar.value))
            say(said.code, said.message, locate.span_at(scalar, said.start, said.end), said.hint)

    def better(self, problem: Problem, text: str) -> Problem:
        """Say of an unknown name that a later step produces it, where that is so."""
        name = text[problem.start : problem.end].strip("${}").split(".")[0]
        if problem.code == "unknown-field" and STEPS_BEFORE.search(text[: problem.start]):
            return self._no_such_step(problem, name)
        if problem.code == "unknown-field" and name == "prompt" and text[: problem.start].endswith("current_step."):
            message = "current_step.prompt is known only in a handoff template"
            return replace(problem, message=message, hint="put it into a file, and name that: handoff: NAME.md")
        if problem.code not in ("unknown-name", "unknown-shell-name"):
            return problem
        maker = self.later.get(name)
        if maker is None:
            return self._step_for_value(problem, name)
        if maker.only_inside is not None:
            message = f"'{name}' is known only inside step '{maker.only_inside}'"
            hint = f"outside, its results are steps.{spoken(maker.only_inside)}.output, one per item"
            return replace(problem, code="unknown-name", message=message, hint=hint)
        hint = f"step '{maker.step}' must come before this one"
        message = f"'{name}' is used before it is produced by step '{maker.step}'"
        return replace(problem, code="used-before-produced", message=message, hint=hint)

    def _step_for_value(self, problem: Problem, name: str) -> Problem:
        """Say of an unknown name that a step is called so, where that is so."""
        if name not in self.scope.steps.names() or suggest(name, self.scope.names):
            return problem
        hint = f"write steps.{name}.output, or give that step the key `output: {name}`"
        return replace(
            problem, code="unknown-name", message=f"'{name}' is a step, and no value has this name", hint=hint
        )

    def _no_such_step(self, problem: Problem, name: str) -> Problem:
        known = self.scope.steps.names()
        message = f"no step '{name}' stands before this one{did_you_mean(name, known)}"
        hint = "known here: " + (
            ", ".join(f"steps.{each}" for each in known) or "no step, for a step sees only those before it"
        )
        return replace(problem, code="unknown-step", message=message, hint=hint)

    @contextmanager
    def inside(
        self, node: Mapping, names: dict[str, Type], *, leaks: bool, own: Collection[str] = ()
    ) -> Generator[None]:
        """Lower a body: more names, and the step's own agent settings as defaults."""
        outer, talks, earlier = self.defaults, len(self.talks), self.earlier
        self.earlier = {}
        self.defaults = {**outer, **{entry.name: entry.value for entry in node if entry.name in INHERITED}}
        try:
            with self.scope.inside(names, leaks=leaks, own=own):
                yield
        finally:
            self.defaults, self.earlier = outer, earlier
            if not leaks:
                del self.talks[talks:]

    def setting(self, node: Mapping, key: str) -> Node | None:
        """Give a key of a step, else the default for it."""
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
        "allowed_tools",
        "disallowed_tools",
        "handrail_tools",
        "idle_timeout",
        "tmux",
        "sandbox",
    }
)
"""Settings that a step with a body hands on to the steps inside."""


def with_own_words(document: Document, report: Report) -> Document:
    """Give a checked document with every key under the format's own word for it."""
    root = document.root
    if report.dropped or any(found.code == "other-word" for found in report):
        root = cast("Mapping", aliases.rename_aliases(WORKFLOW, root))
    return replace(document, root=root)


def text_of(node: Node | None) -> str | None:
    """Give a node's text, or None where it has none."""
    return node.value if isinstance(node, Scalar) and isinstance(node.value, str) else None


def whole(node: Node | None, default: int) -> int:
    """Give a node's whole number, or the default."""
    value = node.value if isinstance(node, Scalar) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else default


def flag_of(node: Node | None, *, default: bool = False) -> bool:
    """Give a node's truth value, or the default."""
    return node.value if isinstance(node, Scalar) and isinstance(node.value, bool) else default


def texts_of(node: Node | None) -> tuple[str, ...]:
    """Give the texts of a list, or the one text that stands for a list."""
    if isinstance(node, Sequence):
        return tuple(text for text in map(text_of, node.items) if text is not None)
    text = text_of(node)
    return () if text is None else (text,)


def seconds(node: Node | None) -> int | None:
    """Give a duration such as 1h30m in seconds: at least one, and no more than a century."""
    text = text_of(node)
    if text is None:
        return None
    total, digits, unit = 0.0, "", ""
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
