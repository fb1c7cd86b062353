"""The pinned version of a workflow."""

from handrail.compiler.bounds import Bound, count_agent_calls
from handrail.frozen import frozen
from handrail.model.diagnostics import Diagnostic
from handrail.model.source import Form
from handrail.operations.workflows.check import ValidWorkflow, check, require_valid
from handrail.operations.workflows.find_targets import find_one_workflow
from handrail.sources.open_workflow import catalog_for
from handrail.sources.tiers import Location


@frozen
class CompiledWorkflow:
    """A plan with its hash and how many agent calls it may need."""

    form: Form
    path: str
    made: ValidWorkflow
    bound: Bound
    diagnostics: tuple[Diagnostic, ...]


def compile_workflow(place: Location, name_or_path: str) -> CompiledWorkflow:
    """Compile a workflow; raise InvalidWorkflow if it has errors."""
    catalog = catalog_for(place)
    checked = check(place, find_one_workflow(place, name_or_path), catalog)
    made = require_valid(place, checked)
    bound = count_agent_calls(made.plan, catalog)
    return CompiledWorkflow(
        checked.found.form, place.display_path(checked.found.main), made, bound, checked.diagnostics
    )
