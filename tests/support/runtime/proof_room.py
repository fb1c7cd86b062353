"""A room in which tests establish proofs with real processes."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from handrail.language.expressions.evaluate import evaluate
from handrail.language.expressions.parser import parse
from handrail.model.workflow.proofs import CommandProof, Proof
from handrail.model.workflow.values import Command, Constant, Expression, JsonValue, ShellBinding, Value
from handrail.runtime.handlers.proofs.file_evidence import ProofContext
from handrail.runtime.handlers.proofs.handler import ProofHandler
from handrail.runtime.handlers.proofs.results import ProofResult
from handrail.wiring.system import make_starts


def passes(script: str, **values: str) -> CommandProof:
    """A command that must pass; `values` are expressions by their variable."""
    return CommandProof(command(script, **values))


def fails(script: str, code: int | None = None, **values: str) -> CommandProof:
    """A command that must fail."""
    return CommandProof(command(script, **values), "fail", code)


def command(script: str, **values: str) -> Command:
    """A command with its values."""
    return Command(script, tuple(ShellBinding(name, Expression(source)) for name, source in values.items()))


@dataclass
class ProofRoom:
    """A workspace, and the names that proofs read."""

    folder: Path
    names: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    changed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.work.mkdir(exist_ok=True)

    @property
    def work(self) -> Path:
        return self.folder / "work"

    @property
    def effects(self) -> Path:
        return self.folder / "runs" / "r1" / "7"

    @property
    def handler(self) -> ProofHandler:
        return ProofHandler(make_starts(), self.folder / "runs")

    def ctx(self, *proofs: Proof) -> ProofContext:
        return ProofContext(
            run="r1",
            seq=7,
            workspace=str(self.work),
            tree="tree-1",
            proofs=proofs,
            evaluate=self._evaluate,
            value=self._value,
            changed=lambda: self.changed,
        )

    def _evaluate(self, expression: Expression) -> JsonValue:
        return evaluate(parse(expression.source), self.names)  # pyright: ignore[reportReturnType]  # values are JSON

    def _value(self, value: Value) -> JsonValue:
        assert isinstance(value, Constant)
        return value.value

    def establish(
        self, *proofs: Proof, timeout: float | None = None, began_at: float | None = None
    ) -> tuple[ProofResult, ...]:
        ctx = replace(self.ctx(*proofs), timeout=timeout, began_at=began_at)
        return asyncio.run(self.handler.establish(ctx))

    def one(self, proof: Proof, began_at: float | None = None) -> ProofResult:
        (result,) = self.establish(proof, began_at=began_at)
        return result

    def write(self, path: str, text: str) -> Path:
        target = self.work / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")
        return target
