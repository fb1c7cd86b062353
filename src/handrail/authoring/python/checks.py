"""The checks of `done_when` as Python objects, one class per kind."""

from dataclasses import dataclass, field
from typing import ClassVar, TypeAlias

from handrail.authoring.python.parts import Fields, Part, Texts


@dataclass(frozen=True, slots=True, kw_only=True)
class FileCheck(Part):
    """A check of a single file, as defined by `[checks.NAME]` in config.toml."""

    check: str = field(kw_only=False)
    file: str = field(kw_only=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Passes(Part):
    """A command that must succeed, or a file that must pass a check."""

    passes: str | FileCheck | Fields = field(kw_only=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fails(Part):
    """A command that must fail, with the given exit code if any, or a file in which a test must fail."""

    fails: str | FileCheck | Fields = field(kw_only=False)
    exit: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed(Part):
    """Files that must have changed."""

    changed: Texts = field(kw_only=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unchanged(Part):
    """Files that must not have changed; with `ignored`, files that git ignores count too."""

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
    """A test report that must contain no failures."""

    WITHIN: ClassVar[str] = "report"
    junit: str = field(kw_only=False)
    min_tests: int | None = None


Check: TypeAlias = Passes | Fails | Changed | Unchanged | Exists | Expect | Report
