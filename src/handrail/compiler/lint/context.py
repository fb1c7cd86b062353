"""The input of all lints, collected once: the steps, the names they read and the texts they give to agents."""

from dataclasses import dataclass, field

from handrail.compiler.catalog import Catalog
from handrail.compiler.lint.names_read import Path, paths_in
from handrail.compiler.lint.prompts import PromptText, collect_texts
from handrail.compiler.lint.walk import Visit, collect_visits
from handrail.compiler.outcome import StepPositions
from handrail.model.diagnostics import Report
from handrail.model.source import Document, Span
from handrail.model.workflow.plan import Plan


@dataclass(slots=True)
class LintContext:
    """A compiled workflow as lints see it, and the report they write to."""

    plan: Plan
    document: Document
    catalog: Catalog
    visits: tuple[Visit, ...]
    own: tuple[Visit, ...]
    """The steps that are written in the workflow's own file."""
    texts: tuple[PromptText, ...]
    reads: tuple[tuple[Path, ...], ...]
    """The names that each visited step reads, by its order."""
    report: Report = field(default_factory=Report)

    def locate(self, visit: Visit, key: str = "") -> Span:
        """Find the position of a key's value, or else of the step's name."""
        node = visit.node or self.document.root
        found = node.get(key) or node.get("name") or node.get("id")
        return found.span if found is not None else node.span


def gather(plan: Plan, document: Document, catalog: Catalog, places: StepPositions) -> LintContext:
    """Walk a plan once for all lints."""
    visits = collect_visits(plan, document, places)
    texts = collect_texts(visits, document)
    reads = tuple(paths_in(visit.step) for visit in visits)
    own = tuple(visit for visit in visits if visit.node is not None)
    return LintContext(plan, document, catalog, visits, own, texts, reads)
