"""What a check of stored facts found, and what a salvage did about it."""

from typing import Literal

from handrail.frozen import frozen


@frozen
class Finding:
    """Something that is not as it was written; of a stream, the first `intact` events still are."""

    part: Literal["database", "stream", "blob", "checkpoint", "run", "inbox", "timer", "issue"]
    name: str
    problem: str
    intact: int = 0


@frozen
class Report:
    """The results of a check."""

    findings: tuple[Finding, ...] = ()

    @property
    def is_healthy(self) -> bool:
        """Whether everything is as it was written."""
        return not self.findings


@frozen
class TruncatedStream:
    """A stream that lost its damaged tail: `kept` events remain, `moved` rows are set aside, `lost` cannot be read."""

    stream: str
    kept: int
    moved: int
    lost: int = 0


@frozen
class Salvage:
    """What a salvage did: `copy` is the damaged file as it was found; `left` could not be repaired."""

    cuts: tuple[TruncatedStream, ...] = ()
    copy: str | None = None
    left: tuple[Finding, ...] = ()
