"""Notifies a person that a run needs them: on the desktop, by a command of theirs, by a request to a web address.

Every way has the same deadline, and none of them waits for another. The content reaches a command in its environment
and a program as an argument: it is never part of a text that a shell reads.
"""

import json
import os
import shutil
import signal
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from http.client import HTTPException
from urllib.parse import urlsplit

from handrail.ports.notices import Notice, NoticeTarget
from handrail.processes.environment import filter_environment

DEADLINE = 10.0
"""Timeout for each way in seconds, including its retries."""
FIRST_PAUSE = 0.25
"""Seconds before the first retry of a request; each further pause is twice as long."""
_DESKTOP = ("DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS")
_OSASCRIPT = ("on run argv", "display notification (item 2 of argv) with title (item 1 of argv)", "end run")
_MAX_ARGUMENT = 2_000
_WORTH_ANOTHER_TRY = frozenset({408, 425, 429, 500, 502, 503, 504})
_DELIVERED = range(200, 300)


def send_notice(target: NoticeTarget, notice: Notice) -> tuple[str, ...]:
    """Notify a target in all its ways at once, and return what did not work."""
    problems: list[str] = []
    ways = [threading.Thread(target=_try, args=(*way, problems), daemon=True) for way in _channels(target, notice)]
    names = [name for name, _ in _channels(target, notice)]
    ends = time.monotonic() + DEADLINE + 1
    for way in ways:
        way.start()
    for way, name in zip(ways, names, strict=True):
        way.join(max(0.0, ends - time.monotonic()))
        if way.is_alive():
            problems.append(f"{name}: no result after {DEADLINE:.0f} s")
    return tuple(problems)


def _channels(target: NoticeTarget, notice: Notice) -> Iterator[tuple[str, Callable[[], str]]]:
    if target.desktop:
        yield "desktop", lambda: _show_on_desktop(notice)
    if target.command:
        yield "command", lambda: _run_command(target.command, notice)
    if target.webhook:
        yield "webhook", lambda: _post(target.webhook, notice)


def _try(name: str, act: Callable[[], str], problems: list[str]) -> None:
    try:
        problem = act()
    except Exception as error:  # noqa: BLE001 - a failing way must not affect the others or the run
        problem = f"{type(error).__name__}"
    if problem:
        problems.append(f"{name}: {problem}")


def _show_on_desktop(notice: Notice) -> str:
    title, text = _argument(notice.title), _argument(notice.message)
    environ = filter_environment(os.environ, _DESKTOP)
    if program := shutil.which("notify-send"):
        return _wait_for([program, "--app-name=handrail", "--", title, text], environ)
    if program := shutil.which("osascript"):
        script = [word for line in _OSASCRIPT for word in ("-e", line)]
        return _wait_for([program, *script, title, text], environ)
    return "neither notify-send nor osascript is installed"


def _argument(text: str) -> str:
    return text.replace("\0", " ")[:_MAX_ARGUMENT]


def _run_command(command: str, notice: Notice) -> str:
    told = {f"HANDRAIL_NOTIFY_{name.upper()}": value.replace("\0", " ") for name, value in notice.values.items()}
    return _wait_for(["/bin/sh", "-c", command], {**filter_environment(os.environ), **told})


def _wait_for(argv: list[str], environ: dict[str, str]) -> str:
    """Run a program to its end, and end it with all its descendants when it takes too long."""
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(argv, env=environ, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True)  # noqa: S603 (the user wrote it)
    try:
        code = process.wait(DEADLINE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return f"killed because it took longer than {DEADLINE:.0f} s"
    return f"ended with exit code {code}" if code else ""


def _post(address: str, notice: Notice) -> str:
    """Send the notice as JSON; the address may contain a secret, so that only its host is ever named."""
    body = json.dumps(notice.values, ensure_ascii=False).encode()
    ends, pause = time.monotonic() + DEADLINE, FIRST_PAUSE
    while True:
        problem, again = _post_once(address, body, max(0.1, ends - time.monotonic()))
        if not problem or not again or time.monotonic() + pause >= ends:
            return f"{urlsplit(address).hostname} {problem}" if problem else ""
        time.sleep(pause)
        pause *= 2


def _post_once(address: str, body: bytes, timeout: float) -> tuple[str, bool]:
    """Return what was wrong with one try, and whether a retry may help."""
    headers = {"Content-Type": "application/json", "User-Agent": "handrail"}
    request = urllib.request.Request(address, body, headers)  # noqa: S310 (the setting allows web addresses only)
    try:
        with _opener().open(request, timeout=timeout) as answer:
            status = int(answer.status)
    except urllib.error.HTTPError as error:
        status = error.code
        error.close()
    except (OSError, HTTPException) as error:
        return f"cannot be reached ({type(error).__name__})", True
    return ("", False) if status in _DELIVERED else (f"answered {status}", status in _WORTH_ANOTHER_TRY)


def _opener() -> urllib.request.OpenerDirector:
    """Build the sender of requests; it follows no redirect, so that nothing goes where the user did not send it."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
    ):
        opener.add_handler(handler)
    return opener
