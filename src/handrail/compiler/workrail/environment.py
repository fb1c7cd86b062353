"""The context of a step within its workflow, as lowering needs it."""

from dataclasses import replace

from handrail.compiler.builtins import Builtins
from handrail.compiler.catalog import Catalog
from handrail.compiler.outcome import StepPositions
from handrail.compiler.workrail.functions import Functions, merge_scopes
from handrail.compiler.workrail.message_names import describe_unknown, list_names
from handrail.compiler.workrail.tree import flag, text
from handrail.frozen import frozen
from handrail.model.diagnostics import Report
from handrail.model.source import Mapping
from handrail.model.workflow.guidance import Assessment, Contract, Tier
from handrail.model.workflow.plan import Injected


@frozen
class StepContext:
    """The context of a step; inside a loop it includes the loop's address and functions."""

    catalog: Catalog
    report: Report
    places: StepPositions
    injected: dict[str, Injected]
    assessments: dict[str, Assessment]
    """The declared assessments; those of the library are added when steps refer to them."""
    bodies: dict[str, Mapping]
    """Top-level steps by id, for loops that name their body."""
    functions: Functions = ()
    agent_role: str | None = None
    model_tier: Tier | None = None
    prefix: str = ""
    """The address of the enclosing loop, ending in a slash."""

    @property
    def builtins(self) -> Builtins:
        """The library."""
        return self.catalog.builtins

    def enter_loop(self, loop_id: str, own: Functions) -> "StepContext":
        """Return the context for a loop's body."""
        return replace(self, prefix=f"{self.prefix}{loop_id}/", functions=merge_scopes(self.functions, own))


def lower_contract(node: Mapping | None, setting: StepContext) -> Contract | None:
    """Look up an output contract and resolve its schema."""
    if node is None:
        return None
    ref = text(node, "contractRef") or ""
    pack = setting.builtins.contract(ref)
    if pack is None:
        known = setting.builtins.contract_ids()
        hint = "known contracts: " + list_names(known)
        place = node.entries["contractRef"].value
        setting.report.error("unknown-contract", describe_unknown("contract", ref, known), place, hint)
        return None
    return Contract(pack.id, pack.kind, pack.schema, required=flag(node, "required", default=True))
