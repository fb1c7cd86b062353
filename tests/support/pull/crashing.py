"""Walks a workflow in processes that kill themselves at each commit of the log once, until the walk is done.

Run as a script: `crashing.py FOLDER deadly|calm`. The walker is an agent that writes down what it is about to
call and what it was answered. After a death it makes the call again whose answer it never got; only a start, of which
it cannot know whether it happened, is looked for with resume_session first.
"""

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from support.pull.room import BY_ARTIFACT, CONTROL, Json, Pull, Said, advancing, control, definition, loop, step

WORKFLOW = definition(
    step("first"),
    loop("again", step("work"), step("decide", **CONTROL), type="while", conditionSource=BY_ARTIFACT),
    step("late", runCondition={"var": "x", "equals": "late"}),
    step("last", prompt="x is {{x}}."),
)
Turn = Callable[[dict[str, Said]], Json]


def _advance(before: str, notes: str | None = "Done.", **keys: Any) -> Turn:
    return lambda said: {"tool": "continue_workflow", **advancing(said[before].token, notes, **keys)}


def _look(at: str) -> Turn:
    return lambda said: {"tool": "continue_workflow", "continueToken": said[at].token, "intent": "rehydrate"}


def _keep(at: str) -> Turn:
    return lambda said: {"tool": "checkpoint_workflow", "checkpointToken": said[at].data["checkpointToken"]}


TURNS: dict[str, Turn] = {
    "work 1": _advance("start", context={"x": "early"}),
    "kept": _keep("work 1"),
    "refused": _advance("work 1", None, context={"y": 1}),
    "decide 1": _advance("refused", "Worked."),
    "work 2": _advance("decide 1", artifacts=[control("continue")]),
    "decide 2": _advance("work 2"),
    "late": _advance("decide 2", artifacts=[control("stop")], context={"x": "late"}),
    "last": _advance("late"),
    "look back": _look("decide 2"),
    "branch": _advance("look back", artifacts=[control("stop")]),
    "branch done": _advance("branch"),
    "done": _advance("last"),
}


class Points:
    """Where a process may die: at each commit of each turn, once."""

    def __init__(self, folder: Path, *, deadly: bool) -> None:
        self._file, self._deadly, self.turn, self._passed = folder / "killed", deadly, "", 0
        self._seen = self._file.read_text("utf-8").splitlines() if self._file.exists() else []

    def __call__(self, name: str) -> None:
        self._passed += 1
        point = f"{self.turn}: {name} {self._passed}"
        if self._deadly and point not in self._seen:
            with self._file.open("a", encoding="utf-8") as file:
                file.write(point + "\n")
            os.kill(os.getpid(), signal.SIGKILL)

    def enter(self, turn: str) -> None:
        """Another turn begins."""
        self.turn, self._passed = turn, 0


class Walker:
    """An agent with a memory on disk."""

    def __init__(self, folder: Path, pull: Pull, points: Points | None = None) -> None:
        self._file, self._pull, self._points = folder / "journal", pull, points or Points(folder, deadly=False)
        lines = self._file.read_text("utf-8").splitlines() if self._file.exists() else []
        self._lines = [json.loads(line) for line in lines]
        self.said = {line["turn"]: Said(*line["said"]) for line in self._lines if "said" in line}

    def walk(self) -> None:
        """Go on to the end."""
        if "start" not in self.said:
            self._points.enter("start")
            self._answered("start", self._started())
        for turn, make in TURNS.items():
            if turn not in self.said:
                self._points.enter(turn)
                self._answered(turn, self._called(turn, make))

    def _started(self) -> Said:
        if any(line["turn"] == "start" for line in self._lines):
            found = self._pull.call("resume_session", workspacePath=str(self._pull.workspace), query="better")
            for each in found.data["candidates"]:
                return self._pull.rehydrate(each["resumeToken"])
        self._write(turn="start")
        return self._pull.start("sample-flow")

    def _called(self, turn: str, make: Turn) -> Said:
        begun = [line["call"] for line in self._lines if line["turn"] == turn and "call" in line]
        call = begun[0] if begun else make(self.said)
        if not begun:
            self._write(turn=turn, call=call)
        return self._pull.call_once(call["tool"], {name: value for name, value in call.items() if name != "tool"})

    def _answered(self, turn: str, said: Said) -> None:
        self.said[turn] = said
        self._write(turn=turn, said=[said.texts, said.data, said.is_error])

    def _write(self, **line: Any) -> None:
        with self._file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


def live(folder: Path, *, deadly: bool) -> None:
    """One life."""
    points = Points(folder, deadly=deadly)
    pull = Pull(folder, on_point=points)
    pull.add(WORKFLOW)
    Walker(folder, pull, points).walk()
    pull.close()


def lives(folder: Path, *, deadly: bool) -> int:
    """Live until a life ends by itself; give how many were killed."""
    killed = 0
    while True:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                live(folder, deadly=deadly)
                code = 0
            finally:
                os._exit(code)
        status = os.waitpid(child, 0)[1]
        if not os.WIFSIGNALED(status):
            assert os.WEXITSTATUS(status) == 0
            return killed
        killed += 1


if __name__ == "__main__":
    sys.stdout.write(str(lives(Path(sys.argv[1]), deadly=sys.argv[2] == "deadly")))
