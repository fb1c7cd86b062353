"""A cassette: the agent calls of a run as lines of JSON, after a first line that identifies the file."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from hashlib import sha256
from typing import TypeAlias, cast

from handrail.errors import InvalidWorkflow, NotFound
from handrail.frozen import frozen
from handrail.model.workflow.values import JsonValue

VERSION = 1
MARK = "handrail_cassette"
"""The key of the first line, whose value is the version of the format."""
HEAD = "handrail_replay"
"""The type of the first line that a replay prints, which identifies the agent whose lines follow."""
RECORD = "record one: run the workflow with --record FILE"
_Record: TypeAlias = dict[str, JsonValue]
_BLOCK = re.compile(r"\b(data|message)-[0-9a-f]{12}\b")
_COMMIT = re.compile(r"\b(?=[a-f]*[0-9])[0-9a-f]{7,40}\b")


@frozen(kw_only=True)
class RecordedCall:
    """One recorded call of an agent."""

    run: str
    """The run of the family that made it: empty for the run itself, `.7` for the one started by its event 7."""
    address: str
    turn: int
    agent: str
    model: str | None
    prompt_digest: str
    prompt: str
    lines: tuple[str, ...]
    """Its output; bytes that are not valid text are stored as lone surrogates."""
    exit_code: int | None
    signal: int | None = None
    seconds: float = 0.0
    patch: str = ""
    """Its changes to the worktree, in git's format."""


@frozen
class Cassette:
    """A recorded run."""

    calls: tuple[RecordedCall, ...]
    run: str = ""
    """The run that was recorded."""
    strict: bool = False
    """Whether a call fails when its prompt differs from the recorded one."""

    def find(self, run: str, address: str, turn: int) -> RecordedCall:
        """Find the call of a step, or that of another run of the family where this run has none."""
        found = [each for each in self.calls if (each.address, each.turn) == (address, turn)]
        same = [each for each in found if each.run == "".join(run.partition(".")[1:])]
        if not found:
            known = ", ".join(dict.fromkeys(f"{each.address} (call {each.turn})" for each in self.calls)) or "none"
            message = f"the cassette has no call {turn} of step '{address}', only: {known}"
            raise NotFound(message, next_step="record the run again")
        return (same or found)[0]


def digest(prompt: str) -> str:
    """Compute the digest of a prompt."""
    return sha256(prompt.encode("utf-8", "surrogatepass")).hexdigest()


def drift(recorded: str, present: str) -> str:
    """Describe where a prompt first differs from the recorded one; empty where it does not."""
    old, new = recorded.splitlines(), present.splitlines()
    if old == new:
        return ""
    at = next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    return f"the prompt differs from the recorded one at line {at + 1}: {_line(old, at)} before, {_line(new, at)} now"


def comparable(prompt: str, run: str) -> str:
    """Remove what differs from run to run from a prompt: the run's name, marks around data, commit ids."""
    root = run.partition(".")[0]
    named = re.sub(rf"(?<![A-Za-z0-9-]){re.escape(root)}(?![A-Za-z0-9-])", "RUN", prompt) if root else prompt
    return _COMMIT.sub("COMMIT", _BLOCK.sub(r"\1-MARK", named))


def write_cassette(calls: Iterable[RecordedCall], about: Mapping[str, JsonValue]) -> bytes:
    """Serialize a cassette."""
    records = ({MARK: VERSION, **about}, *(asdict(each) for each in calls))
    return b"".join(json.dumps(each).encode() + b"\n" for each in records)


def make_strict(data: bytes) -> bytes:
    """Return a cassette with which a call fails when its prompt differs from the recorded one."""
    first, _, rest = data.partition(b"\n")
    return json.dumps({**json.loads(first), "strict": True}).encode() + b"\n" + rest


def require_cassette(path: str, data: bytes) -> Cassette:
    """Parse the bytes of a cassette file, raising errors that a person can act on."""
    lines = data.splitlines()
    head = _read(path, 1, lines[0] if lines else b"")
    if head.get(MARK) != VERSION:
        message = f"{path} is not a cassette of version {VERSION}"
        raise InvalidWorkflow(message, next_step=RECORD)
    calls = tuple(_call(path, number, line) for number, line in enumerate(lines[1:], 2))
    return Cassette(calls, str(head.get("run", "")), strict=head.get("strict") is True)


def read_drift(line: bytes) -> str:
    """Read from the first line of a replay how the prompt differs; empty where it does not."""
    try:
        said: object = json.loads(line)
    except (ValueError, RecursionError):
        return ""
    match said:
        case {"type": str(kind), "drift": str(told)} if kind == HEAD:
            return told
        case _:
            return ""


def _read(path: str, number: int, line: bytes) -> _Record:
    try:
        found: object = json.loads(line)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise InvalidWorkflow(f"{path}: line {number} is not a JSON object", next_step="record the run again")
    return cast("_Record", found)


def _call(path: str, number: int, line: bytes) -> RecordedCall:
    match _read(path, number, line):
        case {
            "run": str(run),
            "address": str(address),
            "turn": int(turn),
            "agent": str(agent),
            "model": str() | None as model,
            "prompt": str(prompt),
            "lines": list(lines),
            "exit_code": int() | None as exit_code,
            **rest,
        }:
            signal, patch, seconds = rest.get("signal"), rest.get("patch"), rest.get("seconds")
            return RecordedCall(
                run=run,
                address=address,
                turn=turn,
                agent=agent,
                model=model,
                prompt_digest=digest(prompt),
                prompt=prompt,
                lines=tuple(str(each) for each in lines),
                exit_code=exit_code,
                signal=signal if isinstance(signal, int) else None,
                seconds=float(seconds) if isinstance(seconds, int | float) else 0.0,
                patch=patch if isinstance(patch, str) else "",
            )
        case _:
            raise InvalidWorkflow(f"{path}: line {number} is not a recorded call", next_step="record the run again")


def _line(lines: list[str], at: int) -> str:
    return f"'{lines[at][:80]}'" if at < len(lines) else "nothing"
