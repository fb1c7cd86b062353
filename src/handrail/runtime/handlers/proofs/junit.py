"""Counts the tests of an untrusted JUnit report: no entities, no document types, no tree in memory."""

from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat

from handrail.frozen import frozen

MAX_BYTES = 16 << 20
"""The largest report, in bytes."""
MAX_PROLOG_LENGTH = 4096
"""The most bytes before the first element."""
_SUITES = ("testsuites", "testsuite")


@frozen
class ReportCounts:
    """The counts of the tests of a report."""

    tests: int
    failures: int
    errors: int
    skipped: int

    @property
    def run_count(self) -> int:
        """How many tests were not skipped."""
        return self.tests - self.skipped


def read_junit(data: bytes) -> ReportCounts:
    """Count the tests of a report; raises a ValueError that explains why it is not one."""
    if len(data) > MAX_BYTES:
        raise ValueError(f"it is larger than {MAX_BYTES >> 20} MiB")
    reader = _Reader()
    try:
        reader.read(data)
    except expat.ExpatError as error:
        raise ValueError(f"it is not valid XML: {error}") from error
    return reader.total_counts()


def _refuse(*_: object) -> NoReturn:
    raise ValueError("it declares a document type, which no JUnit report needs")


@dataclass(slots=True)
class _Reader:
    """One pass over one report."""

    begun: bool = False
    tests: int = 0
    found: dict[str, int] = field(default_factory=lambda: {"failure": 0, "error": 0, "skipped": 0})
    claimed: dict[str, int] = field(default_factory=lambda: {"failure": 0, "error": 0})
    """What the suites claim about themselves; some report errors that belong to no test."""
    marks: set[str] | None = None
    """The marks of the current test."""

    def read(self, data: bytes) -> None:
        """Read a report."""
        parser = expat.ParserCreate()
        parser.StartDoctypeDeclHandler = _refuse
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        # The parser finishes its input even after a refusal: fed byte by byte, it never sees an entity.
        at = 0
        while not self.begun and at < min(len(data), MAX_PROLOG_LENGTH):
            parser.Parse(data[at : at + 1])
            at += 1
        if not self.begun and at < len(data):
            raise ValueError("it does not start with a test suite")
        parser.Parse(data[at:], True)  # noqa: FBT003 (it takes no names)

    def total_counts(self) -> ReportCounts:
        """Return the counts; what suites claim counts where it is worse."""
        failures, errors = (max(self.found[kind], self.claimed[kind]) for kind in ("failure", "error"))
        return ReportCounts(self.tests, failures, errors, self.found["skipped"])

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition(":")[2]
        if not self.begun and local not in _SUITES:
            raise ValueError(f"it starts with <{local[:40]}>, not with a test suite")
        self.begun = True
        if local in _SUITES:
            self._claim(attributes)
        elif local == "testcase":
            self.tests += 1
            self.marks = {"skipped"} if attributes.get("status") == "notrun" else set()
        elif local in self.found and self.marks is not None:
            self.marks.add(local)
        elif local in self.claimed:
            self.found[local] += 1

    def _claim(self, attributes: dict[str, str]) -> None:
        for kind, plural in (("failure", "failures"), ("error", "errors")):
            number = attributes.get(plural, "")
            if number.isascii() and number.isdigit() and len(number) < 10:
                self.claimed[kind] = max(self.claimed[kind], int(number))

    def _end(self, name: str) -> None:
        if name.rpartition(":")[2] == "testcase" and self.marks is not None:
            for mark in self.marks:
                self.found[mark] += 1
            self.marks = None
