"""One gate for all calls of an account to a GitHub, across the processes of this machine.

GitHub asks a client that it limits to stop, and prolongs the limit of one that goes on. So whoever it asks to wait
writes the time into a file that every process looks at before a call, and none calls until then. Writes hold a lock
while they are made, and begin some time apart, as GitHub asks.
"""

import asyncio
import fcntl
import json
import os
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

from handrail.errors import TrackerBusy
from handrail.frozen import frozen

SHORT = 5.0
"""The longest wait, in seconds, that a call makes itself; a longer one is left to its caller."""
APART = 1.0
"""Seconds between two writes."""
PATIENCE = 90.0
"""Seconds for which a write waits for other writes of the account."""
WITHOUT_TIME = 60.0
"""Seconds to wait at a limit that says no time."""
_POLL = 0.02


@frozen
class Limit:
    """That GitHub asks to wait."""

    until: float
    reason: str


@frozen
class Pacing:
    """Time, as a gate sees it; tests move it."""

    clock: Callable[[], float] = time.time
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    apart: float = APART


@frozen
class Gate:
    """The gate of an account."""

    folder: Path
    account: str
    """Names the account and the host in a file name."""
    pacing: Pacing = Pacing()

    @property
    def limit(self) -> Limit | None:
        """The limit that holds now; a file that cannot be read holds nobody back."""
        try:
            read = cast("dict[str, Any]", json.loads(self._path.read_bytes()))
            limit = Limit(float(read["until"]), str(read["reason"]))
        except (OSError, ValueError, TypeError, KeyError):
            return None
        return limit if limit.until > self.pacing.clock() else None

    def close(self, limit: Limit) -> None:
        """Let no process of this machine call before a time."""
        held = self.limit
        if held is not None and held.until >= limit.until:
            return
        draft = self._path.with_suffix(f".{os.getpid()}.{time.monotonic_ns()}")
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            draft.write_text(json.dumps({"until": limit.until, "reason": limit.reason}), encoding="utf-8")
            draft.replace(self._path)
        except OSError:
            return

    @asynccontextmanager
    async def turn(self, *, writes: bool) -> AsyncGenerator[None]:
        """Wait for the turn of a call; `TrackerBusy` if that would take long."""
        await self._wait_open()
        file = self._open_lock() if writes else None
        if file is None:
            yield
            return
        try:
            await self._lock(file)
            wait = os.fstat(file).st_mtime + self.pacing.apart - self.pacing.clock()
            if 0 < wait <= self.pacing.apart:
                await self.pacing.sleep(wait)
            await self._wait_open()
            yield
            now = self.pacing.clock()
            os.utime(file, (now, now))
        finally:
            os.close(file)

    @property
    def _path(self) -> Path:
        return self.folder / f"{self.account}.json"

    async def _wait_open(self) -> None:
        limit = self.limit
        while limit is not None:
            wait = limit.until - self.pacing.clock()
            if wait > SHORT:
                raise TrackerBusy(limit.reason, until=limit.until)
            await self.pacing.sleep(max(wait, 0.0))
            limit = self.limit

    def _open_lock(self) -> int | None:
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            return os.open(self._path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError:
            # Nothing can be written here: writes go on without regard to other processes.
            return None

    async def _lock(self, file: int) -> None:
        """Wait for the lock, which the kernel frees when its process ends."""
        began = time.monotonic()
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() - began > PATIENCE:
                    until = self.pacing.clock() + PATIENCE
                    raise TrackerBusy("other writes of this account to GitHub take long", until=until) from None
                # Many may wait, so this is real time whatever the clock of a test says.
                await asyncio.sleep(_POLL)
            else:
                return


def find_limit(status: int, headers: Mapping[str, str], body: bytes, now: float) -> Limit | None:
    """Return the limit that an answer reports: the hourly one, a secondary one, or that of GraphQL."""
    is_graphql = status == 200 and b"RATE_LIMITED" in body and _is_limited_query(body)
    spent = headers.get("x-ratelimit-remaining") == "0"
    words = body[:2_000].lower()
    is_limit = status == 429 or (
        status == 403 and (spent or "retry-after" in headers or b"secondary rate limit" in words or b"abuse" in words)
    )
    if not is_limit and not is_graphql:
        return None
    after = _number(headers.get("retry-after"))
    if after is not None:
        return Limit(now + after, f"GitHub asks to wait {after:.0f} seconds before the next call")
    reset = _number(headers.get("x-ratelimit-reset"))
    if spent and reset is not None and reset > now:
        return Limit(reset, "the hourly limit of calls to GitHub is used up")
    return Limit(now + WITHOUT_TIME, "GitHub asks to make fewer calls")


def _is_limited_query(body: bytes) -> bool:
    """Whether GraphQL itself reports a limit; the word may also be in a text that somebody wrote."""
    try:
        answer = json.loads(body)
    except ValueError:
        return False
    errors = cast("dict[str, Any]", answer).get("errors") if isinstance(answer, dict) else None
    listed = cast("list[object]", errors) if isinstance(errors, list) else []
    return any(isinstance(each, dict) and cast("dict[str, Any]", each).get("type") == "RATE_LIMITED" for each in listed)


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if 0 <= value < 1e11 else None
