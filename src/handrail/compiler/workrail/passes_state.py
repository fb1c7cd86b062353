"""The state that the passes over one workflow share: catalog, report, and what they collect for the plan."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from handrail.compiler.catalog import Catalog
from handrail.compiler.workrail.routines import Routine, RoutineProblem, find_routine
from handrail.model.diagnostics import Report
from handrail.model.source import Document
from handrail.model.workflow.guidance import FeatureUse, Slot
from handrail.model.workflow.plan import Injected

MAX_STEPS = 2000
"""The number of steps a workflow may have after template expansion, so that no small file becomes a huge plan."""


@dataclass(slots=True)
class Compilation:
    """The state of one workflow during the passes."""

    catalog: Catalog
    report: Report
    injected: dict[str, Injected] = field(default_factory=dict[str, Injected])
    """The origin of expanded steps, by their ids."""
    slots: list[Slot] = field(default_factory=list[Slot])
    features: list[FeatureUse] = field(default_factory=list[FeatureUse])
    capabilities: dict[str, str] = field(default_factory=dict[str, str])
    """The levels in the settings of a feature."""
    _routines: dict[str, Routine | RoutineProblem | None] = field(
        default_factory=dict[str, Routine | RoutineProblem | None]
    )

    def routine(self, name: str) -> Routine | RoutineProblem | None:
        """Find a routine by its name without prefix; each one is read and checked once."""
        if name not in self._routines:
            self._routines[name] = find_routine(name, self.catalog)
        return self._routines[name]


Pass: TypeAlias = Callable[[Document, Compilation], Document]
