"""What Handrail establishes itself before a step is done: one frozen value per kind, a closed union."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from handrail.model.values import Command, Expression, Value


@dataclass(frozen=True, slots=True)
class CommandProof:
    """A command must pass, or must fail (with a given exit code)."""

    command: Command
    expect: Literal["pass", "fail"] = "pass"
    exit: int | None = None
    kind: Literal["command"] = "command"


@dataclass(frozen=True, slots=True)
class FilesProof:
    """Files must have been changed by the step, or must not have been."""

    globs: Value
    expect: Literal["changed", "unchanged"]
    kind: Literal["files"] = "files"


@dataclass(frozen=True, slots=True)
class ExistsProof:
    """A path must exist."""

    path: Value
    kind: Literal["exists"] = "exists"


@dataclass(frozen=True, slots=True)
class ExpectProof:
    """An expression must be true."""

    condition: Expression
    kind: Literal["expect"] = "expect"


@dataclass(frozen=True, slots=True)
class ReportProof:
    """A JUnit report must show that enough tests ran and none failed."""

    junit: Value
    min_tests: int = 1
    kind: Literal["report"] = "report"


Proof: TypeAlias = CommandProof | FilesProof | ExistsProof | ExpectProof | ReportProof
