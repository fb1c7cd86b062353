"""The scripted agent's process: plays one turn and reports it in JSON lines, the last of them the result.

It imports next to nothing, so that it starts as fast as a process can.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from handrail.agents.played.scripted_client import ToolClient
    from handrail.agents.played.scripted_task import Task
    from handrail.authoring.scripts.turn import FileForm, ToolCall, Turn
    from handrail.model.workflow.values import JsonValue

WRITE, SHELL = "Write", "Bash"
"""The tools with which it writes files and runs commands: forbidding them forbids that."""
READ_ONLY_REFUSES = (WRITE, "Edit", "MultiEdit", "NotebookEdit", SHELL)
STEP_TOOLS = ("report_progress", "ask_person", "create_child_run", "give_feedback", "list_runs")
"""Handrail's own tools."""
PREFIX = "mcp__handrail__"
"""The prefix that Claude Code gives these tools."""
MAX_OUTPUT_LENGTH = 1 << 20
INTERRUPTED = 130


class _CallFailed(Exception):
    """The call ends here without success."""

    def __init__(self, status: str, message: str, retry_after: float | None = None, text: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.retry_after = retry_after
        self.text = text
        """Its text before that."""


def main() -> NoReturn:
    """Play the task in the folder that the first argument names, in the workspace that the task names."""
    folder = Path(sys.argv[1]).absolute()
    task: Task = json.loads((folder / "task.json").read_bytes())
    _tell("session", session=task["session"])
    try:
        os.chdir(task["workspace"])
        _play(task, folder)
        _end(task, _result(task["turn"]))
    except _CallFailed as over:
        _fail(task, over)
    except KeyboardInterrupt:
        _end(task, {"status": "cancelled", "message": "it was interrupted"}, INTERRUPTED)
    except OSError as error:
        _end(task, {"status": "api_error", "message": f"the turn cannot be played: {error}"})


def _tell(kind: str, **what: "JsonValue") -> None:
    sys.stdout.buffer.write(json.dumps({"type": kind, **what}, ensure_ascii=False).encode() + b"\n")
    sys.stdout.buffer.flush()


def _end(task: "Task", result: "dict[str, JsonValue]", code: int = 0) -> NoReturn:
    _tell("result", **result, **_usage(task["turn"]), session=task["session"])
    sys.exit(code)


def _usage(turn: "Turn") -> "dict[str, JsonValue]":
    usage: dict[str, JsonValue] = dict(turn.get("usage", {}))
    cost = usage.pop("cost", None)
    return {"usage": usage, "cost": cost}


def _result(turn: "Turn") -> "dict[str, JsonValue]":
    result: dict[str, JsonValue] = {"status": "ok", "text": turn.get("say", "")}
    if "output" in turn:
        result["output"] = turn["output"]
    if "ask" in turn:
        result["question"] = turn["ask"]
    return result


def _fail(task: "Task", over: _CallFailed) -> NoReturn:
    if over.status == "crashed":
        # A crash is played without a result and with a bad exit status.
        _tell("error", message=over.message)
        sys.exit(1)
    said: dict[str, JsonValue] = {"status": over.status, "text": over.text, "message": over.message}
    _end(task, said | {"retry_after": over.retry_after})


def _play(task: "Task", folder: Path) -> None:
    turn = task["turn"]
    _check_prompt(turn.get("expect_prompt", []))
    time.sleep(turn.get("delay", 0))
    _use_tools(task, turn.get("call_tool", []))
    for path, form in turn.get("files", {}).items():
        _use(task, {"name": WRITE, "input": {"path": path}})
        _put(Path(path), form)
    if turn.get("run") and "usage" in turn:
        _tell("usage", **_usage(turn))
    for command in turn.get("run", []):
        _run(task, command, folder)
    for command in turn.get("background", []):
        _leave_running(task, command)
    if turn.get("say"):
        _tell("text", text=turn.get("say"))
    if failed := turn.get("fail"):
        message = failed.get("message", f"the script says so: {failed['status']}")
        raise _CallFailed(failed["status"], message, failed.get("retry_after"), turn.get("say", ""))


def _check_prompt(parts: list[str]) -> None:
    prompt = sys.stdin.buffer.read().decode(errors="replace") if parts else ""
    missing = [part for part in parts if part not in prompt]
    if missing:
        raise _CallFailed("api_error", "the prompt does not contain " + " and ".join(f"'{part}'" for part in missing))


def _refuse_unless_allowed(task: "Task", name: str) -> None:
    if task["access"] == "read" and name in READ_ONLY_REFUSES:
        raise _CallFailed("denied", f"the tool {name} was denied: the step has access read")
    if name in task["disallowed_tools"]:
        raise _CallFailed("denied", f"the tool {name} was denied: it is one of disallowed_tools")
    if name.startswith("mcp__") and name.rpartition("__")[2] in task["quiet"]:
        raise _CallFailed("denied", f"the tool {name} was denied: the step writes nothing to the tracker (no_comment)")
    allowed = task["allowed_tools"]
    if allowed is not None and name not in allowed:
        raise _CallFailed("denied", f"the tool {name} was denied: it is not one of allowed_tools")


def _use(task: "Task", call: "ToolCall") -> None:
    _refuse_unless_allowed(task, call["name"])
    _tell("tool", name=call["name"], input=call.get("input"))


def _use_tools(task: "Task", calls: "list[ToolCall]") -> None:
    """Report which tools are used; those of Handrail are really called, by one client for all of them."""
    client: ToolClient | None = None
    known: dict[str, dict[str, JsonValue]] = {}
    try:
        for call in calls:
            if call["name"].removeprefix(PREFIX) not in STEP_TOOLS:
                _use(task, call)
                continue
            client = client or _client(task, call["name"].removeprefix(PREFIX))
            _call(client, call, known)
    finally:
        if client is not None:
            client.close()


def _client(task: "Task", name: str) -> "ToolClient":
    if name not in task["own_tools"]:
        raise _CallFailed("denied", f"the tool {name} was denied: it is not one of handrail_tools")
    from handrail.agents.played.scripted_client import ToolClient  # noqa: PLC0415 (few turns call such a tool)

    return ToolClient(task["server"])


def _call(client: "ToolClient", call: "ToolCall", known: "dict[str, dict[str, JsonValue]]") -> None:
    """Call a tool of Handrail; a failure is shown, and the turn goes on."""
    from handrail.agents.played.scripted_client import fill_placeholders  # noqa: PLC0415 (few turns call such a tool)

    given = fill_placeholders(call.get("input"), known)
    _tell("doing", name=call["name"], input=given)
    try:
        words, data, good = client.call(call["name"].removeprefix(PREFIX), given)
    except ConnectionError as error:
        raise _CallFailed("api_error", f"the tools of Handrail do not answer: {error}") from None
    known[call.get("save", "")] = data
    _tell("tool", name=call["name"], input=given, output=words, exit_code=0 if good else 1)
    missing = [part for part in call.get("expect", []) if part not in words]
    if missing:
        raise _CallFailed("api_error", f"{call['name']} answered '{words}', which does not contain '{missing[0]}'")


def _put(path: Path, form: "FileForm | None") -> None:
    """Write a file as the script says, whatever was there; a link is replaced and never followed."""
    if not path.parent.resolve().is_relative_to(Path.cwd().resolve()):
        raise _CallFailed("denied", f"{path} leads outside the workspace")
    if form is None:
        _delete(path)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_symlink():
        path.unlink()
    if "link" in form:
        path.unlink(missing_ok=True)
        path.symlink_to(form["link"])
        return
    path.write_bytes(_bytes(form))
    if "executable" in form:
        path.chmod(path.stat().st_mode & 0o666 | (0o111 if form["executable"] else 0))


def _bytes(form: "FileForm") -> bytes:
    if "base64" in form:
        from base64 import b64decode  # noqa: PLC0415 (few turns write bytes)

        return b64decode(form["base64"])
    return form.get("text", "").encode()


def _delete(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        from shutil import rmtree  # noqa: PLC0415 (few turns delete folders)

        rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _run(task: "Task", command: str, folder: Path) -> None:
    """Run a command to its end; its output goes through a file, so that what it leaves running blocks nobody."""
    import subprocess  # noqa: PLC0415 (many turns run nothing)

    _refuse_unless_allowed(task, SHELL)
    # Report the command while it runs; its result is reported afterwards.
    _tell("doing", name=SHELL, input={"command": command})
    # In a sandbox the folder of the call cannot be written to; the temporary folder is private there.
    place = (folder if os.access(folder, os.W_OK) else Path("/tmp")) / "command.out"  # noqa: S108
    with place.open("w+b") as out:
        # Unlinked at once, so that nothing of its output is left there.
        place.unlink()
        words = ["/bin/sh", "-c", command]
        code = subprocess.call(words, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)  # noqa: S603
        printed = os.pread(out.fileno(), MAX_OUTPUT_LENGTH, 0).decode(errors="replace")
    _tell("tool", name=SHELL, input={"command": command}, output=printed, exit_code=code)


def _leave_running(task: "Task", command: str) -> None:
    import subprocess  # noqa: PLC0415 (many turns run nothing)

    _use(task, {"name": SHELL, "input": {"command": f"{command} &"}})
    nowhere = subprocess.DEVNULL
    words = ["/bin/sh", "-c", command]
    child = subprocess.Popen(words, stdin=nowhere, stdout=nowhere, stderr=nowhere, start_new_session=True)  # noqa: S603
    child.returncode = 0  # prevents the warning about a child that is left running on purpose


if __name__ == "__main__":
    main()
