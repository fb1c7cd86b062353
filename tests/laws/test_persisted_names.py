"""Every name that is written to disk is fixed: a history that was written once can be read for ever.

What fails here says that a stored field, kind, default or file has changed. If that is meant, older events need a
lifter, older states another `REDUCER`, older files a version; then write the golden file anew with
HANDRAIL_UPDATE_GOLDEN=1 and read its difference.
"""

import asyncio
import json
import os
import shutil
from dataclasses import fields
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

import pytest

from handrail.engine.state.codec import encode_state
from handrail.model import issue_events, pull_request_facts
from handrail.model.history import events, issue_work
from handrail.model.history import run_state as run
from handrail.model.history.run_lines import USUAL
from handrail.model.tokens import Token, mint, read_token
from handrail.model.workflow import plan
from handrail.operations.delivery import export_import as transfer
from handrail.ports.hash_chain import START, link, seal
from handrail.ports.log import Checkpoint, NewEvent
from handrail.ports.processes import ProcessSpec
from handrail.processes.local import LocalProcesses
from handrail.sources.config import config
from handrail.sources.trust.file import TrustFile
from handrail.store.signing_keys import keys_in
from handrail.store.sqlite.statements import migrations
from handrail.workspace.delivery.discard import discard
from support.laws.record_shapes import record_shapes
from support.workspace.git_room import GitRoom, fill, git

GOLDEN = Path(__file__).parent / "persisted"


def check_golden(name: str, found: object) -> None:
    path = GOLDEN / f"{name}.json"
    text = json.dumps(found, indent=1, ensure_ascii=False) + "\n"
    if os.environ.get("HANDRAIL_UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert json.loads(path.read_text("utf-8")) == found


def test_events_keep_their_kinds_fields_and_defaults() -> None:
    check_golden("events", {"version": events.VERSION, "records": record_shapes({"event": cast("Any", events.Event)})})


def test_facts_of_issues_keep_their_kinds_fields_and_defaults() -> None:
    found = record_shapes({"event": cast("Any", issue_events.IssueEvent)})
    check_golden("issue_events", {"version": issue_events.VERSION, "records": found})


def test_facts_of_pull_requests_keep_their_kinds_fields_and_defaults() -> None:
    shapes = record_shapes({"fact": cast("Any", pull_request_facts.PullRequestFact)})
    check_golden("pull_requests", {"version": pull_request_facts.VERSION, "records": shapes})


def test_plans_keep_their_records_fields_and_defaults() -> None:
    check_golden("plan", {"format": plan.FORMAT, "records": record_shapes({"plan": plan.Plan})})


def test_states_keep_their_records_fields_and_defaults() -> None:
    check_golden("state", {"reducer": run.REDUCER, "records": record_shapes({"state": run.RunState})})


def test_the_facts_of_the_work_on_an_issue_keep_their_kinds_and_fields() -> None:
    shapes = record_shapes({"fact": cast("Any", issue_work.IssueFact)})
    check_golden("issue_work", {"version": issue_work.VERSION, "stream": issue_work.STREAM, "records": shapes})


def test_a_state_is_written_in_the_same_bytes() -> None:
    state = run.RunState(
        run="fix-1",
        status="waiting",
        plan="aa",
        definition="bb",
        workflow="fix",
        inputs={"n": 1},
        workspace="w",
        started_at=1.5,
        reason="approval",
    )
    state = run.update_state(
        state, steps=state.steps.insert("one", run.StepState("succeeded", 2, {"a": [1]}, 0, "out"))
    )
    state = run.update_state(
        state,
        stack=(run.Frame("", 1), run.Frame("loop", 0, loop=run.LoopState("loop", 1, items=("x",)))),
        pending=run.Pending(4, "two", "approval", "approval"),
        failure=run.Failure("two", 1, "no"),
        forked_from=("fix-0", 3),
        said=(1, "half"),
    )
    check_golden("state_bytes", json.loads(encode_state(state)))


def test_the_line_of_a_run_keeps_its_defaults() -> None:
    check_golden("run_line", USUAL)


def test_tokens_keep_their_layout() -> None:
    key = bytes(range(32))
    token = Token("continue", "fix-1", 7, "11223344")
    text = "ct_AQDPHxEiM0QAAAAAAAAABwVmaXgtMXhZ76GoDX1-m8pNqw"
    assert mint(token, key) == text
    assert read_token(text, (key,)) == token
    kinds = ("continue", "checkpoint", "resume", "agent")
    check_golden("tokens", {kind: mint(Token(kind, "fix-1", 7, "11223344", "55667788"), key) for kind in kinds})


def test_hashes_of_events_and_seals_of_checkpoints_stay_the_same() -> None:
    head = link("fix-1", START, NewEvent("run_ended", 1, b'{"a":1}'))
    found = {"event": head.hash, "seal": seal(Checkpoint("fix-1", 1, 9, b"{}"), head.hash)}
    check_golden("hashes", found)


def test_a_migration_that_was_released_never_changes() -> None:
    folder = files("handrail.store.sqlite") / "sql" / "migrations"
    texts = {each.name: each.read_bytes() for each in folder.iterdir() if each.name.endswith(".sql")}
    assert len(texts) == len(migrations())
    check_golden("migrations", {name: sha256(texts[name]).hexdigest() for name in sorted(texts)})


def test_settings_keep_their_tables_and_keys() -> None:
    found = {
        "repository": list(config.REPOSITORY_TABLES),
        "user": list(config.USER_TABLES),
        "worktrees": [each.name for each in fields(config.Worktrees)],
        "bindings": list(config.BINDINGS),
    }
    check_golden("settings", found)


def test_an_exported_run_keeps_its_format() -> None:
    assert (transfer.FORMAT, transfer.VERSION) == ("handrail-run", 1)


def keys_of(value: object) -> object:
    """The names in a JSON document; what they hold differs from run to run."""
    if isinstance(value, dict):
        return {name: keys_of(each) for name, each in sorted(cast("dict[str, object]", value).items())}
    return ""


def names_in(path: Path) -> object:
    return keys_of(json.loads(path.read_text()))


def test_the_files_of_a_process_keep_their_names(tmp_path: Path) -> None:
    folder, processes = tmp_path / "process", LocalProcesses()
    spec = ProcessSpec("fix-1:1", ("/bin/sh", "-c", "echo hi"), str(tmp_path), (), str(folder), 1 << 20)
    processes.start(spec)
    asyncio.run(processes.wait(spec.folder, 60.0))
    check_golden("process_files", {name: names_in(folder / name) for name in ("process.json", "status")})


def test_the_files_of_a_worktree_keep_their_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "Ada")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "ada@example.org")
    room = GitRoom(tmp_path).make()
    tree, path = room.prepare("fix-1")
    (path / "README.md").write_text("changed\n")
    room.spaces.snapshot(tree, "fix-1")
    fill(room.repo / ".git", {"info/attributes": "* text\n", "hooks/pre-commit": "true\n"})
    git(room.repo, "config", "core.hooksPath", ".githooks")
    git(room.repo, "config", "include.path", "more")
    room.spaces.record_settings(tree)
    # The folders of a repository and of a work tree are named by a hash of their paths, which differ here.
    found = {
        "record": names_in(next((room.data / "worktrees").rglob("fix-1.json"))),
        "memo.json": names_in(next((room.data / "indexes").rglob("memo.json"))),
        "executing-settings.json": names_in(next((room.data / "indexes").rglob("executing-settings.json"))),
        "refs": room.refs(),
        "snapshot": keys_of(json.loads(git(room.repo, "log", "-1", "--format=%b", "refs/handrail/fix-1"))),
    }
    discard(room.spaces.places, tree, "fix-1")
    found["removed"] = names_in(next((room.data / "removed").glob("*.json")))
    check_golden("worktree_files", found)


def test_the_record_of_trust_keeps_its_form(tmp_path: Path) -> None:
    trust = TrustFile(tmp_path)
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    with trust.change() as record:
        record.add(tmp_path / "repo" / "workflow.yaml", trust.keep(b"name: x\n"))
        record.add(Path("/w/workflow.yaml"), "f" * 64)
    assert json.loads((tmp_path / "trust.json").read_text()) == {
        "version": 2,
        "repositories": {
            str(tmp_path / "repo"): {
                "workflow.yaml": ["a2a79ea37edb1963efaae29281523ab441a8a99df048d204f22f3f413e325afc"]
            }
        },
        "files": {"/w/workflow.yaml": ["f" * 64]},
    }
    shutil.rmtree(tmp_path / "repo")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["trust", "trust.json", "trust.lock"]


def test_the_keys_of_tokens_keep_their_file(tmp_path: Path) -> None:
    keys_in(tmp_path)
    assert names_in(tmp_path / "token-keys.json") == {"current": "", "previous": "", "version": ""}
