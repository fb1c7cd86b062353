"""The checks of `done_when` as Python objects, one class per kind."""

from dataclasses import dataclass, field
from typing import ClassVar, TypeAlias

from handrail.authoring.python.parts import Part, Texts


@dataclass(frozen=True, slots=True, kw_only=True)
class Passes(Part):
    """A command that must succeed."""

    passes: str = field(kw_only=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fails(Part):
    """A command that must fail, with this exit code if one is given."""

    fails: str = field(kw_only=False)
    exit: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed(Part):
    """Files that must have been changed."""

    changed: Texts = field(kw_only=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unchanged(Part):
    """Files that must not have been changed; with `ignored` those that git ignores count too."""

    AS_MAP: ClassVar[str] = "paths"
    unchanged: Texts = field(kw_only=False)
    ignored: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Exists(Part):
    """A path that must exist."""

    exists: str = field(kw_only=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Expect(Part):
    """An expression that must be true."""

    expect: str = field(kw_only=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report(Part):
    """A test report that must show no failure."""

    WITHIN: ClassVar[str] = "report"
    junit: str = field(kw_only=False)
    min_tests: int | None = None


Check: TypeAlias = Passes | Fails | Changed | Unchanged | Exists | Expect | Report
