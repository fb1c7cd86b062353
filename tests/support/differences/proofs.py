"""Which test proves which key: `@proves("TABLE.KEY")`, read from the sources by `test_every_key_is_proven.py`."""

import ast
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

from support.differences.workbench import Driver, Trace, Workbench

T = TypeVar("T", bound=Callable[..., None])
Json = dict[str, Any]


def proves(*keys: str) -> Callable[[T], T]:
    """Declare the keys that a test shows to make a difference."""
    assert keys, "a test proves at least one key"
    return lambda test: test


def proven_in(folder: Path) -> Iterator[tuple[str, str]]:
    """Find each declared key with the test that proves it."""
    for path in sorted(folder.glob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef):
                for key in _declared(node):
                    yield key, f"{path.name}::{node.name}"


def _declared(test: ast.FunctionDef) -> Iterator[str]:
    for call in test.decorator_list:
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "proves":
            yield from (str(each.value) for each in call.args if isinstance(each, ast.Constant))


def flow(*steps: Json, **head: Any) -> str:
    """Write a native workflow of steps; values are written as JSON, which YAML reads."""
    keys = {"name": "case", **head, "steps": list(steps)}
    return "".join(f"{name}: {json.dumps(value)}\n" for name, value in keys.items())


def guided(*steps: Json, **head: Any) -> str:
    """Write a WorkRail-style workflow of steps."""
    basis = {"id": "guided-case", "name": "Case", "description": "A case.", "version": "1.0.0"}
    return json.dumps({**basis, **head, "steps": list(steps)})


def step(name: str = "look", **keys: Any) -> Json:
    """Write a WorkRail-style step; its prompt is short unless another key says what is asked."""
    without = {"promptBlocks", "templateCall", "loop", "parallelDelegations", "templateId"} & set(keys)
    return {"id": name, "title": f"Title of {name}", **({} if without else {"prompt": f"Do {name}."}), **keys}


@dataclass(slots=True)
class Benches:
    """Runs each workflow on a workbench of its own."""

    folder: Path
    driver: Driver = "launched"
    _numbers: "count[int]" = None  # pyright: ignore[reportAssignmentType]

    def __post_init__(self) -> None:
        self._numbers = count(1)

    def __call__(self, text: str, *inputs: str, **options: Any) -> Trace:
        """Run a workflow; the options are those of the workbench."""
        return self.bench(**options).run(text, *inputs)

    def bench(self, **options: Any) -> Workbench:
        """Make a workbench."""
        return Workbench(self.folder / f"bench-{next(self._numbers)}", self.driver, **options)
