"""`handrail demo`."""

import shlex
import signal
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

import click

from handrail.cli.options import json_option
from handrail.cli.output import write_json

if TYPE_CHECKING:
    from handrail.cli.demo.place import DemoPlace
    from handrail.cli.demo.screen import Screen
ENDING = (signal.SIGTERM, signal.SIGHUP)


@click.command("demo", epilog="Example: handrail demo --keep")
@click.option("--keep", is_flag=True, help="Keep the folder, and show how to explore it.")
@click.option("--fast", is_flag=True, help="Do not pause for reading; the default without a terminal.")
@json_option
def command(*, keep: bool, fast: bool, as_json: bool) -> int:
    """See how it works in 20 seconds, in a temporary repository: crash, resume, review, approval, merge.

    Needs no agent, no key and no network. Nothing of yours is read or changed, and nothing is left behind.
    """
    from handrail.cli.demo.place import throw_away
    from handrail.cli.demo.screen import PAUSE, Screen
    from handrail.cli.demo.story import Story
    from handrail.cli.demo.terminal import Terminal

    screen = Screen(err=as_json, pause=0.0 if fast or as_json or not sys.stdout.isatty() else PAUSE)
    with _exit_on_signals() as calm, throw_away(keep=keep) as place:
        story = Story(place, screen, Terminal(place, screen))
        try:
            failed = story.tell()
        finally:
            calm()
            story.terminal.end()
    if keep:
        _say_where(screen, place)
    if failed is None:
        gone = "." if keep else ", and nothing of it is left on this machine."
        screen.say(f"\nThat took {story.seconds:.0f} s{gone}\nNext: cd your-repo && handrail init")
    if as_json:
        write_json({**story.document(), "kept": str(place.folder) if keep else None})
    elif failed is not None:
        raise failed
    return 0 if failed is None else failed.exit_code


def _say_where(screen: "Screen", place: "DemoPlace") -> None:
    screen.say("\nEverything is kept. To explore it:")
    screen.show_command(f"cd {shlex.quote(str(place.repository))}")
    screen.show_command(f"export HANDRAIL_HOME={shlex.quote(str(place.handrail))}")
    screen.show_command("handrail show demo-1; handrail why demo-1 review; handrail logs demo-1")
    screen.show_command(f"rm -r {shlex.quote(str(place.folder))}   # when you are done")


@contextmanager
def _exit_on_signals() -> Generator[Callable[[], None]]:
    """Let signals that end a process end the demo cleanly; yield a function that ignores signals during clean-up."""

    def end(number: int, _: FrameType | None) -> NoReturn:
        sys.exit(128 + number)

    def calm() -> None:
        for each in before:
            signal.signal(each, signal.SIG_IGN)

    before = {each: signal.getsignal(each) for each in (signal.SIGINT, *ENDING)}
    for each in ENDING:
        signal.signal(each, end)
    try:
        yield calm
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
