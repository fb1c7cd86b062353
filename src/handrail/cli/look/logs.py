"""`handrail logs`."""

import json
import select
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from handrail.cli.options import run_argument, step_argument
from handrail.cli.render.safe_text import crop, escape_controls

if TYPE_CHECKING:
    from handrail.model.history.events import Event
    from handrail.ports.log import Doorbell
    from handrail.wiring.session import Session

POLL_INTERVAL = 0.2
"""Seconds between looks where changes are not reported."""
AT_ONCE, MAX_WAIT = 0.05, 1.0
"""Seconds between looks where changes are reported: while much happens, and while nothing does."""
INTERRUPTED = 130
PREFIX_WIDTH = 48
"""The columns of number, time and kind."""


@click.command("logs", epilog="Example: handrail logs fix-bug-1 --json | jq .kind")
@run_argument
@step_argument
@click.option("-f", "--follow", is_flag=True, help="Follow new events until the run ends or needs a person.")
@click.option("--tail", type=click.IntRange(min=0), metavar="N", help="Start with the last N events.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document per line, one for each event.")
def command(*, run: str, step: str | None, follow: bool, tail: int | None, as_json: bool) -> int:
    """Show everything that happened in a run, or to one step of it, event by event."""
    from handrail.operations.views.history import history
    from handrail.wiring.session import open_run_session

    with open_run_session() as session:
        found = session.find(run)
        events = history(session.log, found, step)
        seen = {_key(each) for each in events}
        shown = events if tail is None else events[len(events) - min(tail, len(events)) :]
        root = "" if as_json else _root(session, found)
        _write(shown, root, as_json=as_json)
        if not follow:
            if step is None:
                _write_pull_requests(session, found, as_json=as_json)
            return 0
        try:
            for news in _news(session, found, step, seen):
                _write(news, root, as_json=as_json)
        except KeyboardInterrupt:
            # Only the following ends: another process drives the run.
            return INTERRUPTED
        from handrail.operations.views.run_document import exit_code, run_document

        return exit_code(run_document(session.log, found))


def _write_pull_requests(session: "Session", run: str, *, as_json: bool) -> None:
    """Show what happened to the pull requests of a run, which goes on after the run is over."""
    from handrail.operations.views.pull_requests import list_pull_request_lines

    for line in list_pull_request_lines(session.log, run):
        if as_json:
            document = {"pull_request": line.number, "kind": line.kind, "at": line.at, "message": line.words}
            click.echo(json.dumps(document))
        else:
            moment = time.strftime("%H:%M:%S", time.localtime(line.at))
            click.echo(escape_controls(f"PR #{line.number}  {moment}  {line.words}"))


def _news(
    session: "Session", run: str, step: str | None, seen: set[tuple[int, str, str]]
) -> Iterator[list[tuple[int, str, "Event"]]]:
    """Yield events as they are recorded, until the run can no longer continue automatically."""
    from handrail.operations.driving.follow import is_at_rest
    from handrail.operations.views.history import history

    changed, moved = -1, time.monotonic()
    bell = session.log.doorbell()
    try:
        while True:
            now = session.log.change_token()
            if now != changed:
                changed, moved = now, time.monotonic()
                news = [each for each in history(session.log, run, step) if _key(each) not in seen]
                seen.update(map(_key, news))
                yield news
            if not is_at_rest(session.log, session.system.folder, run, time.monotonic() - moved):
                _wait_for_change(bell)
            elif session.log.change_token() == changed:
                # What made it stand is shown already.
                return
    finally:
        if bell is not None:
            bell.close()


def _wait_for_change(bell: "Doorbell | None") -> None:
    """Wait until it is worth another look."""
    if bell is None:
        time.sleep(POLL_INTERVAL)
        return
    time.sleep(AT_ONCE)
    select.select([bell], [], [], MAX_WAIT)
    bell.answer()


def _key(each: tuple[int, str, "Event"]) -> tuple[int, str, str]:
    seq, address, event = each
    return seq, address, f"{event.kind} {event.at}"


def _root(session: "Session", run: str) -> str:
    """Say where the repository of a run is."""
    from handrail.operations.views.run_document import summary_document

    return str(summary_document(session.log, run).get("repository") or "")


def _write(events: list[tuple[int, str, "Event"]], root: str, *, as_json: bool) -> None:
    from handrail.operations.views.history import event_data

    for seq, address, event in events:
        if as_json:
            click.echo(json.dumps(event_data(seq, event)))
        else:
            for line in (_line(seq, address, event), *_prompt_lines(address, event, root)):
                click.echo(escape_controls(line))
    sys.stdout.flush()


def _line(seq: int, address: str, event: "Event") -> str:
    from handrail.cli.render.runs import local_moment
    from handrail.operations.views.event_sentences import event_sentence

    said = event_sentence(event)
    words = (
        _cut(escape_controls(_fields(seq, event)))
        if said is None
        else "  ".join(part for part in (address, said) if part)
    )
    return f"{seq:>4}  {local_moment(event.at)}  {event.kind:<18}  {words}"


def _cut(text: str) -> str:
    """Crop the fields of an event to a line of the terminal; a pipe gets them whole."""
    import shutil

    return crop(text, max(40, shutil.get_terminal_size().columns - PREFIX_WIDTH)) if sys.stdout.isatty() else text


def _prompt_lines(address: str, event: "Event", root: str) -> list[str]:
    """Name the prompt file that an agent receives, and its version."""
    from handrail.operations.views.event_sentences import prompt_words

    words = prompt_words(event, root)
    return [f"{'':>4}  Loading subroutine: {address}", f"{'':>4}  Prompt path: {words}"] if words else []


def _fields(seq: int, event: "Event") -> str:
    from handrail.operations.views.history import event_data

    hidden = ("seq", "kind", "time", "at")
    shown = {key: value for key, value in event_data(seq, event).items() if key not in hidden}
    return "  ".join(f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in shown.items())
