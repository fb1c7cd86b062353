"""What a check of kept facts found, and what a salvage did about it."""

from typing import Literal

from handrail.frozen import frozen


@frozen
class Finding:
    """Something that is not as it was written; of a stream, the first `intact` events still are."""

    part: Literal["database", "stream", "blob", "checkpoint", "run", "inbox", "timer"]
    name: str
    problem: str
    intact: int = 0


@frozen
class Report:
    """What a check found."""

    findings: tuple[Finding, ...] = ()

    @property
    def healthy(self) -> bool:
        """Tell whether everything is as it was written."""
        return not self.findings


@frozen
class Cut:
    """A stream that lost its damaged tail: `kept` events remain, `moved` rows are kept aside, `lost` cannot be read."""

    stream: str
    kept: int
    moved: int
    lost: int = 0


@frozen
class Salvage:
    """What a salvage did: `copy` is the damaged file as it was found; `left` could not be mended."""

    cuts: tuple[Cut, ...] = ()
    copy: str | None = None
    left: tuple[Finding, ...] = ()
