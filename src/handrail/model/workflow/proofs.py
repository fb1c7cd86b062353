"""What Handrail itself verifies before a step is done: one frozen value per kind, a closed union."""

from typing import Literal, TypeAlias

from handrail.frozen import frozen
from handrail.model.workflow.values import Command, Expression, Value


@frozen
class CommandProof:
    """A command must pass, or must fail (with a given exit code)."""

    command: Command
    expect: Literal["pass", "fail"] = "pass"
    exit: int | None = None
    kind: Literal["command"] = "command"


@frozen
class CheckProof:
    """A file must pass a check of the project, or a test in it must fail."""

    check: str
    file: Value
    expect: Literal["pass", "fail"] = "pass"
    kind: Literal["check"] = "check"


@frozen
class FilesProof:
    """Files must have been changed by the step, or must not have been."""

    globs: Value
    expect: Literal["changed", "unchanged"]
    ignored: bool = False
    """Whether files that git ignores count too; only for those that must not have been changed."""
    kind: Literal["files"] = "files"


@frozen
class ExistsProof:
    """A path must exist."""

    path: Value
    kind: Literal["exists"] = "exists"


@frozen
class ExpectProof:
    """An expression must be true."""

    condition: Expression
    kind: Literal["expect"] = "expect"


@frozen
class ReportProof:
    """A JUnit report must show that enough tests ran and none failed."""

    junit: Value
    min_tests: int = 1
    kind: Literal["report"] = "report"


Proof: TypeAlias = CommandProof | CheckProof | FilesProof | ExistsProof | ExpectProof | ReportProof
