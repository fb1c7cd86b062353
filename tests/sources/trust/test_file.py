"""The record of trust on the disk: private, whole, refused where it is damaged, safe with many writers."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from handrail.errors import EnvironmentFault
from handrail.sources.folders import Folders
from handrail.sources.trust.store import TrustStore
from handrail.sources.workflow_snapshot import take
from support.sources.workplace import Workplace, write


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_files_are_private(store: TrustStore, main: Path, work: Workplace) -> None:
    old = os.umask(0)
    try:
        store.trust_snapshot(take(main))
    finally:
        os.umask(old)
    data = work.folders.data
    assert mode(data) == mode(data / "trust") == 0o700
    assert mode(data / "trust.json") == mode(data / "trust.lock") == 0o600
    assert {mode(blob) for blob in (data / "trust").iterdir()} == {0o600}


def test_nothing_half_written_is_left(store: TrustStore, main: Path, work: Workplace) -> None:
    store.trust_snapshot(take(main))
    assert sorted(path.name for path in work.folders.data.iterdir()) == ["trust", "trust.json", "trust.lock"]
    assert len(list((work.folders.data / "trust").iterdir())) == len(take(main).files)


DIGEST = "0" * 64


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '{"version": 3, "repositories": {}, "files": {}}',
        '{"version": 2}',
        '{"version": 2, "repositories": {}}',
        '{"version": 2, "repositories": [], "files": {}}',
        '{"version": 2, "repositories": {"/x": []}, "files": {}}',
        '{"version": 2, "repositories": {"/x": {"a": "b"}}, "files": {}}',
        '{"version": 2, "repositories": {}, "files": {"/a": ["../../etc/passwd"]}}',
        f'{{"version": 2, "repositories": {{}}, "files": {{"/a": "{DIGEST}"}}}}',
        '{"version": 1}',
        '{"version": 1, "trusted": []}',
        '{"version": 1, "trusted": {"/x": {}}}',
        '{"version": 1, "trusted": {"/x": {"fingerprint": 1, "files": {}}}}',
        f'{{"version": 1, "trusted": {{"/x": {{"fingerprint": "{DIGEST}", "files": {{"a": "../../etc/passwd"}}}}}}}}',
        f'{{"version": 1, "trusted": {{"/x": {{"fingerprint": "{DIGEST}", "files": 3}}}}}}',
        "[" * 100_000,
    ],
)
def test_a_damaged_record_is_an_error_and_is_left_as_it_is(
    store: TrustStore, main: Path, work: Workplace, text: str
) -> None:
    path = write(work.folders.data / "trust.json", text)
    shown = take(main)
    for ask in (
        lambda: store.status_of(shown.contents),
        lambda: store.trust_snapshot(take(main)),
        lambda: store.forget([main.parent]),
        lambda: store.difference_of(shown.contents),
    ):
        with pytest.raises(EnvironmentFault, match="the record of trusted workflows cannot be used") as caught:
            ask()
        assert str(path) in (caught.value.next_step or "")
    assert path.read_text() == text


def test_a_record_that_is_no_text_is_damaged(store: TrustStore, main: Path, work: Workplace) -> None:
    write(work.folders.data / "trust.json", "").write_bytes(b"\xff\xff")
    with pytest.raises(EnvironmentFault):
        store.status_of(take(main).contents)


def test_a_data_folder_that_cannot_be_made_is_said(main: Path, work: Workplace) -> None:
    blocked = write(work.home / "file", "x")
    store = TrustStore(Folders(work.home, blocked / "data"))
    with pytest.raises(EnvironmentFault, match="trust cannot be recorded: not a directory"):
        store.trust_snapshot(take(main))


PROGRAM = """
import sys
from pathlib import Path
from handrail.sources.folders import Folders
from handrail.sources.trust.store import TrustStore
from handrail.sources.workflow_snapshot import take
home, start, *mains = sys.argv[1:]
store = TrustStore(Folders(Path(home), Path(home) / "data"))
print("ready", flush=True)
sys.stdin.readline()
for main in mains:
    store.trust_snapshot(take(Path(main)))
"""


def test_processes_that_trust_at_the_same_time_lose_nothing(work: Workplace, store: TrustStore) -> None:
    groups = [[work.workflow(f"w{who}-{n}.yaml", f"name: w{who}-{n}") for n in range(15)] for who in range(3)]
    running = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(work.home), str(who), *map(str, mains)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for who, mains in enumerate(groups)
    ]
    for process in running:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in running:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in running:
        process.communicate(timeout=60)
        assert process.returncode == 0
    recorded = json.loads((work.folders.data / "trust.json").read_text())["repositories"][str(work.repo)]
    assert len(recorded) == 45
    assert all(store.status_of(take(main).contents).is_granted for mains in groups for main in mains)
