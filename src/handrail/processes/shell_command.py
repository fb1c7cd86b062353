"""Prepares a command of a plan: its values go into environment variables and files, never into the script."""

import os
from collections.abc import Mapping
from pathlib import Path

from handrail.errors import ProcessFault
from handrail.frozen import frozen
from handrail.language.expressions.evaluate import Limits, evaluate
from handrail.language.expressions.parser import parse
from handrail.language.problems import EvaluationError, LanguageError
from handrail.language.values import Budget, text_of
from handrail.model.workflow.values import Command, ShellBinding

MAX_VALUE_BYTES = 100_000
"""The largest value in bytes; Linux accepts 128 KiB for one variable."""
MAX_TOTAL_BYTES = 600_000
"""The largest total of all values in bytes; macOS accepts 1 MiB for arguments and environment together."""
MAX_SCRIPT_BYTES = 120_000
_FILE_LIMITS = Limits(text=64 << 20, items=10_000_000, fuel=10_000_000)


@frozen
class PreparedCommand:
    """A command line, and the variables it needs in addition to the environment of every command."""

    argv: tuple[str, ...]
    env: tuple[tuple[str, str], ...]


@frozen
class Refusal:
    """Why a value cannot be passed."""

    expression: str
    """As written between `${` and `}`; empty when it concerns the command as a whole."""
    message: str
    hint: str


@frozen
class RefusedCommand:
    """Nothing was written and nothing may be started."""

    refusals: tuple[Refusal, ...]


def prepare(
    command: Command, values: Mapping[str, object], folder: str, written: Mapping[str, str] | None = None
) -> PreparedCommand | RefusedCommand:
    """Evaluate what a command needs in the scope `values`; values passed as files are written to `folder`.

    `written` has the author's expressions by variable, where the bindings only name variables.
    """
    found = [_render_binding(binding, values, (written or {}).get(binding.variable)) for binding in command.bindings]
    refusals = [one for one in (*found, _check_size(command, found)) if isinstance(one, Refusal)]
    if refusals:
        return RefusedCommand(tuple(refusals))
    texts = [one for one in found if isinstance(one, bytes)]
    env = [
        (binding.variable, _write(Path(folder), binding.variable, text) if binding.as_file else text.decode())
        for binding, text in zip(command.bindings, texts, strict=True)
    ]
    return PreparedCommand(("/bin/sh", "-c", command.script), tuple(env))


def _render_binding(binding: ShellBinding, values: Mapping[str, object], written: str | None) -> bytes | Refusal:
    source = written or binding.value.source
    limits = _FILE_LIMITS
    try:
        expression = parse(binding.value.source)
        text = text_of(evaluate(expression, values, limits), Budget(limits, expression)).encode()
    except (LanguageError, EvaluationError) as error:
        return Refusal(source, error.problem.message, error.problem.hint or f"make sure that `{source}` has a value")
    except UnicodeEncodeError:
        return Refusal(
            source, "the value is not valid text: it contains half of a surrogate pair", "fix it where it is created"
        )
    return text if binding.as_file else _check_variable(source, text)


def _check_variable(source: str, text: bytes) -> bytes | Refusal:
    hint = f"pass it as the path of a file: ${{{source} | file}}"
    if b"\0" in text:
        return Refusal(source, "the value contains a NUL character, which an environment variable cannot", hint)
    if len(text) > MAX_VALUE_BYTES:
        message = f"the value has {len(text)} bytes; an environment variable can hold at most {MAX_VALUE_BYTES}"
        return Refusal(source, message, hint)
    return text


def _check_size(command: Command, found: list[bytes | Refusal]) -> Refusal | None:
    script = command.script.encode(errors="replace")
    if b"\0" in script or len(script) > MAX_SCRIPT_BYTES:
        message = f"the command contains a NUL character or is longer than {MAX_SCRIPT_BYTES} bytes"
        return Refusal("", message, "put the script into a file of the repository and call that")
    texts = zip(command.bindings, found, strict=True)
    total = sum(len(text) for binding, text in texts if isinstance(text, bytes) and not binding.as_file)
    if total > MAX_TOTAL_BYTES:
        message = f"the values of the command have {total} bytes in total, more than {MAX_TOTAL_BYTES}"
        return Refusal("", message, "pass the largest of them as files: ${x | file}")
    return None


def _write(folder: Path, variable: str, content: bytes) -> str:
    path = folder / f"{variable}.value"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
    except OSError as error:
        message = f"a value cannot be written to {path}: {error.strerror}"
        raise ProcessFault(message, next_step="make the folder writable, or free up disk space") from error
    return str(path.absolute())
