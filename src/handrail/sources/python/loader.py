"""Runs a trusted `workflow.py` from the very text that was fingerprinted, and calls it to get the workflow."""

import asyncio
import inspect
import sys
import traceback
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, redirect_stdout
from itertools import count
from pathlib import Path
from types import CodeType, CoroutineType, ModuleType
from typing import Any, cast

from handrail.frozen import frozen
from handrail.sources.foreign_files import Refusal, decode, printable

MAX_LENGTH = 500
_NUMBERS = count(1)


class PythonFault(Exception):
    """A `workflow.py` failed: what happened, and at which line and column of it."""

    def __init__(self, message: str, line: int = 1, column: int = 1, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column
        self.hint = hint


@frozen
class DynamicFile:
    """A file whose `run` calls steps: what else it declares."""

    description: str
    inputs: object
    budget: object


def load_python(main: Path, source: bytes, context: object) -> object:
    """Execute the source in a fresh module and return what its `resolve(context)` returns; only for trusted sources."""
    with _module(main) as module, redirect_stdout(sys.stderr):
        try:
            exec(_compile_source(main, source), module.__dict__)  # noqa: S102 (this is what the user trusted)
            return _dynamic(module) or _await_value(_resolve_of(module)(context))
        except (KeyboardInterrupt, PythonFault):
            raise
        except BaseException as error:
            # A workflow may raise anything, even SystemExit, and must not end the command.
            raise fault_of(error, main) from error


def load_run(file: str, source: str) -> "Callable[[object], CoroutineType[Any, Any, object]]":
    """Execute a pinned source in a fresh module and return its `run`; only for what was trusted when it was pinned."""
    main = Path(file)
    with _module(main) as module, redirect_stdout(sys.stderr):
        try:
            exec(_compile_source(main, source.encode()), module.__dict__)  # noqa: S102 (this is what the user trusted)
            return module.__dict__["run"]
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise fault_of(error, main) from error


def _dynamic(module: ModuleType) -> DynamicFile | None:
    if hasattr(module, "resolve") or not inspect.iscoroutinefunction(getattr(module, "run", None)):
        return None
    return DynamicFile(inspect.getdoc(module) or "", getattr(module, "inputs", None), getattr(module, "budget", None))


def _compile_source(main: Path, source: bytes) -> CodeType:
    # Decoded here and not by Python: a coding comment could make it run a different text than was shown.
    text = decode(source)
    if isinstance(text, Refusal):
        raise PythonFault(f"the file cannot be read: {text}")
    return compile(text.removeprefix("\ufeff"), str(main), "exec", dont_inherit=True)


@contextmanager
def _module(main: Path) -> Generator[ModuleType]:
    """Provide an empty module that dataclasses and typing can find while it lives."""
    module = ModuleType(f"handrail_workflow_{next(_NUMBERS)}")
    module.__file__ = str(main)
    sys.modules[module.__name__] = module
    try:
        yield module
    finally:
        sys.modules.pop(module.__name__, None)


def _resolve_of(module: ModuleType) -> Callable[[object], object]:
    resolve: object = getattr(module, "resolve", None)
    if callable(resolve):
        return cast("Callable[[object], object]", resolve)
    if callable(getattr(module, "run", None)):
        raise PythonFault("`run` is not a coroutine", hint="write `async def run(ctx)`")
    raise PythonFault(
        "the function `resolve` is missing", hint="write `def resolve(context)` that returns the workflow"
    )


def _await_value(value: object) -> object:
    if not inspect.isawaitable(value):
        return value

    async def wait() -> object:
        return await value

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(wait())
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, wait()).result()


def fault_of(error: BaseException, main: Path) -> PythonFault:
    """Describe what went wrong in a workflow's own file, and where in it."""
    if isinstance(error, SyntaxError) and error.filename == str(main):
        return PythonFault(f"not valid Python: {error.msg}", error.lineno or 1, error.offset or 1)
    line, column = _place(error, main)
    if isinstance(error, SystemExit):
        hint = "return a workflow from resolve(); raise an exception to reject the run"
        return PythonFault("the workflow tried to end the command (SystemExit)", line, column, hint)
    return PythonFault(_words(error), line, column)


def _words(error: BaseException) -> str:
    name = printable(type(error).__name__)
    try:
        text = printable(str(error))[:MAX_LENGTH]
    except Exception:  # noqa: BLE001 (the exception's own text may fail as well)
        return name
    return f"{name}: {text}" if text else name


def _place(error: BaseException, main: Path) -> tuple[int, int]:
    """Find the innermost line of the workflow that the error passed through."""
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(main)]
    if not own:
        return 1, 1
    return own[-1].lineno or 1, (own[-1].colno or 0) + 1
