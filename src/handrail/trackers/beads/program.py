"""Calls `bd`, the program of beads: its database is never touched in any other way.

1. Other programs have the same name, so `bd` counts only if it answers `bd version --json` as beads does.
2. Words from outside are only ever the value of an option (`--title=...`), a checked id, or standard input.
3. An answer is a bare array or object, or the same in an envelope (`BD_JSON_ENVELOPE`); an error is JSON or plain text,
   on either stream, with an exit code other than 0.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from handrail.errors import NotFound, TrackerFault, UsageError
from handrail.frozen import frozen
from handrail.model.issue_events import Record
from handrail.ports.programs import AskProgram, ProgramAnswer, ProgramCall

NAME = "bd"
FOLDER = ".beads"
"""The folder that a repository with beads has."""
TIMEOUT, LONG_TIMEOUT = 30.0, 300.0
"""Seconds for a call, and for one that moves all issues."""
MAX_WORD = 100_000
"""The most bytes of an argument; what may be longer goes through standard input."""
MAX_MESSAGE = 500
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}\Z", re.ASCII)
_VERSION = re.compile(r"\d+\.\d+[\w.+-]*\Z", re.ASCII)
_MISSING = re.compile(r"not found|no issues? found", re.IGNORECASE)
_UNKNOWN = re.compile(r"unknown (?:command|flag|shorthand flag)", re.IGNORECASE)


@frozen
class Bd:
    """The program `bd`, called in one repository."""

    ask: AskProgram
    folder: str
    version: str

    def call(self, *words: str, actor: str = "", text: str = "", timeout: float = TIMEOUT) -> Any:
        """Call a command and return its JSON, without the envelope; None if it prints nothing."""
        return self._read(words[0], self._ask(words, actor, text, timeout))

    def call_for_lines(self, *words: str) -> str:
        """Call a command that prints JSON lines, and return them."""
        answer = self._ask(words, "", "", LONG_TIMEOUT, as_json=False)
        if answer.exit_code:
            raise self._fault(words[0], answer)
        return answer.output

    def call_for_records(self, *words: str, actor: str = "", text: str = "") -> list[Record]:
        """Call a command and return the objects of its JSON."""
        found = self.call(*words, actor=actor, text=text)
        rows = cast("list[Any]", found) if isinstance(found, list) else [found]
        return [cast("Record", each) for each in rows if isinstance(each, dict)]

    def _ask(
        self, words: Sequence[str], actor: str, text: str, timeout: float, *, as_json: bool = True
    ) -> ProgramAnswer:
        options = (*(("--json",) if as_json else ()), *((f"--actor={actor}",) if actor else ()))
        whole = (*words, *options)
        if long := next((each for each in whole if len(each.encode(errors="replace")) > MAX_WORD), ""):
            raise UsageError(
                f"{long.partition('=')[0]} is too long for bd: at most {MAX_WORD} bytes are possible",
                next_step="put the long text into the description",
            )
        call = ProgramCall(name=NAME, words=whole, folder=self.folder, text=text, timeout=timeout)
        answer = self.ask(call)
        if answer is None:
            raise TrackerFault("bd is no longer installed", next_step="install it, or put it on the PATH again")
        if answer.problem:
            raise TrackerFault(f"bd {words[0]}: {answer.problem}", next_step=f"try it by hand: bd {words[0]} --help")
        return answer

    def _read(self, command: str, answer: ProgramAnswer) -> Any:
        if answer.exit_code:
            raise self._fault(command, answer)
        if not answer.output.strip():
            return None
        try:
            return unwrap(json.loads(answer.output))
        except (ValueError, RecursionError):
            message = f"bd {self.version} answered '{command}' with something that is not JSON"
            raise TrackerFault(message, next_step=f"look at what it prints: bd {command} --json") from None

    def _fault(self, command: str, answer: ProgramAnswer) -> Exception:
        message = error_in(answer) or f"exit code {answer.exit_code}"
        if _UNKNOWN.search(message):
            return TrackerFault(
                f"bd {self.version} cannot do this ({message})", next_step="update beads, or do this with bd itself"
            )
        if _MISSING.search(message):
            return NotFound(f"beads: {message}", next_step="handrail issues list")
        return TrackerFault(
            f"bd {command}: {message}", next_step=f"bd {self.version} refused it; see bd {command} --help"
        )


def find_bd(ask: AskProgram, repository: str) -> Bd | str:
    """Find the program for a repository that has beads; a text says why it cannot be used, empty without beads."""
    if not repository or not (Path(repository) / FOLDER).is_dir():
        return ""
    call = ProgramCall(name=NAME, words=("version", "--json"), folder=repository, timeout=TIMEOUT)
    answer = ask(call)
    if answer is None:
        return "bd is not installed"
    version = _version_in(answer)
    if not version:
        return "the program bd on the PATH is not that of beads"
    return Bd(ask, repository, version)


def _version_in(answer: ProgramAnswer) -> str:
    try:
        found: Any = unwrap(json.loads(answer.output)) if answer.exit_code == 0 and not answer.problem else None
    except (ValueError, RecursionError):
        return ""
    if not isinstance(found, dict):
        return ""
    told = cast("dict[str, Any]", found)
    version, build = told.get("version"), told.get("build")
    is_beads = isinstance(version, str) and isinstance(build, str) and _VERSION.match(version)
    return str(version) if is_beads else ""


def unwrap(data: Any) -> Any:
    """Return what an answer contains, without the envelope and its version."""
    if not isinstance(data, dict):
        return data
    found = {name: value for name, value in cast("dict[str, Any]", data).items() if name != "schema_version"}
    return found["data"] if set(found) == {"data"} and "schema_version" in data else found


def error_in(answer: ProgramAnswer) -> str:
    """Return the message of an error: of its JSON if it has any, else the last line of plain text."""
    for text in (answer.errors, answer.output):
        try:
            found: Any = unwrap(json.loads(text))
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict) and "error" in found:
            return _one_line(str(cast("dict[str, Any]", found)["error"]))
    lines = [each for each in f"{answer.output}\n{answer.errors}".splitlines() if each.strip()]
    told = next((each for each in lines if each.lower().startswith("error")), lines[-1] if lines else "")
    return _one_line(told)


def _one_line(text: str) -> str:
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())[:MAX_MESSAGE]


def require_id(issue: str) -> str:
    """Return the id of an issue; what cannot be one is not found, and so never taken for an option."""
    if not _ID.match(issue):
        raise NotFound(f"there is no issue '{_one_line(issue)[:80]}'", next_step="handrail issues list")
    return issue


def clean_text(text: str) -> str:
    """Return a text without control characters, but with its lines and tabs."""
    return "".join(each for each in text if each in "\n\t" or (ord(each) >= 32 and each != "\x7f"))


def clean_line(text: str) -> str:
    """Return a text on one line, without control characters."""
    return " ".join(clean_text(text.replace("\r", " ")).replace("\t", " ").split("\n")).strip()


def quote_labels(labels: Sequence[str]) -> str:
    """Write labels as bd reads them from one option: comma-separated, each in quotes."""
    return ",".join('"{}"'.format(clean_line(each).replace('"', '""')) for each in labels)
