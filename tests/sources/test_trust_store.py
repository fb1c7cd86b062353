import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot
from workplace import YAML, Workplace, write

from handrail.errors import EnvironmentFault, UsageError
from handrail.sources.folders import Folders
from handrail.sources.snapshot import take
from handrail.sources.trust import TrustStore, fingerprint


@pytest.fixture
def store(work: Workplace) -> TrustStore:
    return TrustStore(work.folders)


@pytest.fixture
def main(work: Workplace) -> Path:
    work.workflow("fix/prompts/10-a.md", "first\n")
    return work.workflow("fix/workflow.py", work.python("fix"))


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_repositorys_workflow_is_not_trusted_by_itself(store: TrustStore, main: Path, work: Workplace) -> None:
    assert store.status(main).state == "never"
    assert not store.is_trusted(main)
    assert not work.folders.data.exists()


def test_trusted_content_stays_trusted(store: TrustStore, main: Path, work: Workplace) -> None:
    store.trust(main)
    assert store.status(main).state == "trusted"
    assert TrustStore(work.folders).is_trusted(main.parent)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("workflow.py", "def resolve(context): ...\n"),
        ("prompts/10-a.md", "second\n"),
        ("prompts/20-b.md", "new\n"),
        ("schemas/x.json", "{}"),
        ("lib/tool.sh", "rm -rf ~"),
        ("setup.sh", "rm -rf ~"),
        ("versions/10-a.v2.md", "a version that resolve() may choose"),
    ],
)
def test_any_change_of_what_can_matter_needs_trust_again(store: TrustStore, main: Path, path: str, text: str) -> None:
    store.trust(main)
    write(main.parent / path, text)
    assert store.status(main).state == "changed"
    assert not store.is_trusted(main)


@pytest.mark.parametrize("path", ["tests/test_x.yaml", "__pycache__/workflow.cpython-311.pyc", ".x"])
def test_what_cannot_matter_does_not_change_trust(store: TrustStore, main: Path, path: str) -> None:
    store.trust(main)
    write(main.parent / path, "new")
    assert store.is_trusted(main)


def test_removing_and_renaming_files_needs_trust_again(store: TrustStore, main: Path) -> None:
    store.trust(main)
    (main.parent / "prompts" / "10-a.md").rename(main.parent / "prompts" / "10-b.md")
    assert store.status(main).state == "changed"
    (main.parent / "prompts" / "10-b.md").unlink()
    assert store.status(main).state == "changed"


def test_going_back_to_the_trusted_content_is_trusted_again(store: TrustStore, main: Path) -> None:
    before = main.read_text()
    store.trust(main)
    main.write_text("")
    assert not store.is_trusted(main)
    main.write_text(before)
    assert store.is_trusted(main)


def test_a_prompt_turned_into_an_escaping_link_needs_trust_again(store: TrustStore, main: Path, tmp_path: Path) -> None:
    store.trust(main)
    prompt = main.parent / "prompts" / "10-a.md"
    write(tmp_path / "same.md", prompt.read_text())
    prompt.unlink()
    prompt.symlink_to(tmp_path / "same.md")
    assert store.status(main).state == "changed"
    assert "not used: prompts/10-a.md, it leads outside the workflow's folder" in store.difference(main)


def test_the_same_content_elsewhere_is_not_trusted(store: TrustStore, main: Path, work: Workplace) -> None:
    store.trust(main)
    copy = work.workflow("copy/workflow.py", main.read_text())
    work.workflow("copy/prompts/10-a.md", "first\n")
    assert fingerprint(copy) == fingerprint(main)
    assert store.status(copy).state == "never"


def test_a_link_to_a_trusted_workflow_is_that_workflow(store: TrustStore, main: Path, work: Workplace) -> None:
    store.trust(main)
    link = work.repo / "link"
    link.symlink_to(main.parent)
    assert store.is_trusted(link / "workflow.py")


def test_a_single_file_is_trusted_with_its_prompts(store: TrustStore, work: Workplace) -> None:
    main = work.workflow("fix.yaml", YAML.format(name="fix"))
    store.trust(main)
    work.workflow("other.yaml", "name: other")
    assert store.is_trusted(main)
    work.workflow("prompts/10-a.md", "new")
    assert store.status(main).state == "changed"


def test_the_users_own_and_the_built_in_workflows_are_trusted_by_nature(store: TrustStore, work: Workplace) -> None:
    own = work.user("mine/workflow.py", work.python("mine"))
    assert store.status(own).state == "trusted"
    assert store.status(own).reason == "it is one of your own"
    assert store.status(work.find("fix-bug").main).reason == "it is part of Handrail"


def test_a_link_in_the_users_folder_does_not_vouch_for_a_repository(
    store: TrustStore, main: Path, work: Workplace
) -> None:
    work.folders.workflows.mkdir(parents=True)
    (work.folders.workflows / "fix").symlink_to(main.parent)
    assert store.status(work.folders.workflows / "fix" / "workflow.py").state == "never"


def test_the_users_configuration_can_trust_a_repository_as_a_whole(
    store: TrustStore, main: Path, work: Workplace
) -> None:
    write(work.home / "config.toml", f'[trust]\nrepositories = ["{work.repo}"]\n')
    assert store.status(main).state == "repository"
    assert store.is_trusted(main)
    main.write_text("changed")
    assert store.is_trusted(main)


def test_a_repository_inside_a_trusted_one_is_another(store: TrustStore, work: Workplace) -> None:
    write(work.home / "config.toml", f'[trust]\nrepositories = ["{work.repo}"]\n')
    inner = work.repository("vendor/x/.handrail/workflows/y.yaml", YAML.format(name="y"))
    assert store.is_trusted(inner)
    (work.repo / "vendor" / "x" / ".git").mkdir()
    assert not store.is_trusted(inner)


@pytest.mark.parametrize(
    "text", ['[trust]\nrepositories = ["{repo}/.."]', '[trust]\nrepositories = ["{repo}x"]', "[[[", "trust = 1"]
)
def test_other_words_in_the_configuration_trust_nothing(
    store: TrustStore, main: Path, work: Workplace, text: str
) -> None:
    write(work.home / "config.toml", text.replace("{repo}", str(work.repo)))
    assert store.status(main).state == "never"


def test_a_workflow_outside_every_repository_is_in_no_trusted_one(
    store: TrustStore, work: Workplace, tmp_path: Path
) -> None:
    write(work.home / "config.toml", f'[trust]\nrepositories = ["{work.repo}"]\n')
    assert not store.is_trusted(write(tmp_path / "x.yaml", YAML.format(name="x")))


def test_a_configuration_with_commands_can_be_trusted_too(store: TrustStore, work: Workplace) -> None:
    config = work.repository(".handrail/config.toml", '[checks]\ntest = "make"\n')
    store.trust(config)
    assert store.is_trusted(config)
    config.write_text('[checks]\ntest = "rm -rf ~"\n')
    assert store.status(config).state == "changed"


def test_a_repositorys_own_configuration_trusts_nothing(store: TrustStore, main: Path, work: Workplace) -> None:
    work.repository(".handrail/config.toml", f'[trust]\nrepositories = ["{work.repo}"]\n')
    assert not store.is_trusted(main)


def test_trust_can_be_withdrawn(store: TrustStore, main: Path, work: Workplace) -> None:
    store.trust(main)
    assert store.forget(main)
    assert store.status(main).state == "never"
    assert not store.forget(main)
    assert list((work.folders.data / "trust").iterdir()) == []


def test_the_difference_shows_what_changed_since(store: TrustStore, work: Workplace) -> None:
    main = work.workflow("fix/workflow.yaml", "name: fix\nsteps: []\n")
    work.workflow("fix/prompts/10-a.md", "first\n")
    store.trust(main)
    assert store.difference(main) == ""
    work.workflow("fix/workflow.yaml", "name: fix\nsteps: [{command: make}]\n")
    work.workflow("fix/prompts/20-b.md", "new")
    (main.parent / "prompts" / "10-a.md").unlink()
    assert store.difference(main) == snapshot("""\
--- trusted/prompts/10-a.md
+++ now/prompts/10-a.md
@@ -1 +0,0 @@
-first
--- trusted/prompts/20-b.md
+++ now/prompts/20-b.md
@@ -0,0 +1,2 @@
+new
+\\ no newline at end of file
--- trusted/workflow.yaml
+++ now/workflow.yaml
@@ -1,2 +1,2 @@
 name: fix
-steps: []
+steps: [{command: make}]
""")


def test_what_was_never_trusted_differs_in_everything(store: TrustStore, work: Workplace) -> None:
    main = work.workflow("fix/workflow.yaml", "name: fix\n")
    assert store.difference(main) == snapshot("""\
--- trusted/workflow.yaml
+++ now/workflow.yaml
@@ -0,0 +1 @@
+name: fix
""")


def test_the_difference_hides_nothing_from_the_eye(store: TrustStore, work: Workplace) -> None:
    main = work.workflow("fix/workflow.yaml", "")
    main.write_bytes("a\tb\\t\r\x1b[2K\u202e\u2028c\n".encode())
    assert "+a\tb\\t\\r\\x1b[2K\\u202e\\u2028c\n" in store.difference(main)
    main.write_bytes(b"\xff\x00")
    store.trust(main)
    main.write_bytes(b"\xfe")
    assert "binary content differs (2 and 1 bytes)" in store.difference(main)


def test_a_kept_content_that_is_gone_or_forged_is_said(store: TrustStore, main: Path, work: Workplace) -> None:
    store.trust(main)
    for blob in (work.folders.data / "trust").iterdir():
        blob.write_text("forged")
    assert "the content that was trusted is no longer kept" in store.difference(main)
    assert store.is_trusted(main)


def test_files_are_private(store: TrustStore, main: Path, work: Workplace) -> None:
    old = os.umask(0)
    try:
        store.trust(main)
    finally:
        os.umask(old)
    data = work.folders.data
    assert mode(data) == mode(data / "trust") == 0o700
    assert mode(data / "trust.json") == mode(data / "trust.lock") == 0o600
    assert {mode(blob) for blob in (data / "trust").iterdir()} == {0o600}


def test_nothing_half_written_is_left(store: TrustStore, main: Path, work: Workplace) -> None:
    store.trust(main)
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
        '{"version": 2, "trusted": {}}',
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
    for ask in (store.is_trusted, store.trust, store.forget, store.difference):
        with pytest.raises(EnvironmentFault, match="the record of trusted workflows cannot be used") as caught:
            ask(main)
        assert str(path) in (caught.value.next_step or "")
    assert path.read_text() == text


def test_a_record_that_is_no_text_is_damaged(store: TrustStore, main: Path, work: Workplace) -> None:
    write(work.folders.data / "trust.json", "").write_bytes(b"\xff\xff")
    with pytest.raises(EnvironmentFault):
        store.is_trusted(main)


def test_a_data_folder_that_cannot_be_made_is_said(main: Path, work: Workplace) -> None:
    blocked = write(work.home / "file", "x")
    store = TrustStore(Folders(work.home, blocked / "data"))
    with pytest.raises(EnvironmentFault, match="trust cannot be recorded: not a directory"):
        store.trust(main)


def test_what_is_no_workflow_cannot_be_trusted(store: TrustStore, work: Workplace) -> None:
    (work.repo / "empty").mkdir()
    os.mkfifo(work.repo / "pipe.yaml")
    with pytest.raises(UsageError, match="is not a workflow"):
        store.trust(work.repo / "empty")
    with pytest.raises(UsageError, match="is not a workflow"):
        store.trust(work.repo / "gone.yaml")
    with pytest.raises(UsageError, match="cannot be trusted: it is not a regular file"):
        store.trust(work.repo / "pipe.yaml")


def test_trust_is_given_to_the_bytes_that_were_shown(store: TrustStore, main: Path) -> None:
    shown = take(main)
    main.write_text("import os; os.system('evil')\n")
    store.trust_snapshot(shown)
    assert store.status_of(shown).granted
    assert store.status(main).state == "changed"


PROGRAM = """
import sys
from pathlib import Path
from handrail.sources.folders import Folders
from handrail.sources.trust import TrustStore
home, start, *mains = sys.argv[1:]
store = TrustStore(Folders(Path(home), Path(home) / "data"))
print("ready", flush=True)
sys.stdin.readline()
for main in mains:
    store.trust(Path(main))
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
    recorded = json.loads((work.folders.data / "trust.json").read_text())["trusted"]
    assert len(recorded) == 45
    assert all(store.is_trusted(main) for mains in groups for main in mains)


names = st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=5).filter(str.isprintable)
contents = st.dictionaries(names.filter(lambda name: name[0] not in "."), st.binary(max_size=20), max_size=4)


@given(contents, contents)
def test_fingerprints_are_equal_just_when_contents_are(
    tmp_path_factory: pytest.TempPathFactory, one: dict[str, bytes], two: dict[str, bytes]
) -> None:
    def of(files: dict[str, bytes]) -> str:
        base = tmp_path_factory.mktemp("print")
        write(base / "workflow.yaml", "name: x")
        (base / "prompts").mkdir()
        for name, data in files.items():
            (base / "prompts" / name).write_bytes(data)
        return fingerprint(base)

    assert (of(one) == of(two)) == (one == two)
