"""Records in a workflow that it meets the current authoring spec."""

from handrail.errors import UsageError
from handrail.frozen import frozen
from handrail.operations.atomic_files import refuse_link_elsewhere, replace_file
from handrail.operations.workflows.check import check, require_valid
from handrail.operations.workflows.find_targets import find_one_workflow
from handrail.operations.workflows.staleness import STAMP_KEYS, stamp_of
from handrail.operations.workflows.stamp_text import insert_stamp
from handrail.sources.library import builtins
from handrail.sources.open_workflow import catalog_for
from handrail.sources.tiers import Location, Tier


@frozen
class StampResult:
    """What a stamp changed."""

    path: str
    version: int
    before: int | None

    @property
    def has_changed(self) -> bool:
        """Whether the file was written."""
        return self.before != self.version


def stamp(place: Location, name_or_path: str) -> StampResult:
    """Write the current spec version into a valid workflow; everything else in the file stays as it is."""
    found = find_one_workflow(place, name_or_path)
    path = place.display_path(found.main)
    if found.form == "python":
        hint = "set validated_against_spec in the workflow that resolve() returns"
        raise UsageError(f"{path} is a Python workflow, which this command cannot stamp", next_step=hint)
    if found.tier is Tier.BUILT_IN:
        raise UsageError(f"'{found.name}' is a built-in workflow", next_step="copy it into .handrail/workflows first")
    real = refuse_link_elsewhere(found.main)
    document = require_valid(place, check(place, found, catalog_for(place))).document
    version, before = builtins().spec_version, stamp_of(document)
    if before != version:
        text = insert_stamp(document, version)
        if text is None:
            line = f"{STAMP_KEYS[document.dialect]}: {version}"
            raise UsageError(
                f"{path} has no place where the stamp could be added safely", next_step=f"add it by hand: {line}"
            )
        replace_file(real, text.encode("utf-8"))
    return StampResult(path, version, before)
