"""What was trusted stays trusted until what can matter changes."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.errors import UsageError
from handrail.sources.trust.store import TrustStore
from handrail.sources.workflow_snapshot import take
from support.sources.workplace import YAML, Workplace, difference, write


def test_a_repositorys_workflow_is_not_trusted_by_itself(store: TrustStore, main: Path, work: Workplace) -> None:
    assert store.status_of(take(main).contents).state == "never"
    assert not store.status_of(take(main).contents).is_granted
    assert not work.folders.data.exists()


def test_trusted_content_stays_trusted(store: TrustStore, main: Path, work: Workplace) -> None:
    store.trust_snapshot(take(main))
    assert store.status_of(take(main).contents).state == "trusted"
    assert TrustStore(work.folders).status_of(take(main).contents).is_granted


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
    store.trust_snapshot(take(main))
    write(main.parent / path, text)
    assert store.status_of(take(main).contents).state == "changed"
    assert not store.status_of(take(main).contents).is_granted


@pytest.mark.parametrize("path", ["tests/test_x.yaml", "__pycache__/workflow.cpython-311.pyc", ".x"])
def test_what_cannot_matter_does_not_change_trust(store: TrustStore, main: Path, path: str) -> None:
    store.trust_snapshot(take(main))
    write(main.parent / path, "new")
    assert store.status_of(take(main).contents).is_granted


def test_a_renamed_file_needs_trust_again_and_a_removed_one_does_not(store: TrustStore, main: Path) -> None:
    store.trust_snapshot(take(main))
    (main.parent / "prompts" / "10-a.md").rename(main.parent / "prompts" / "10-b.md")
    assert store.status_of(take(main).contents).state == "changed"
    (main.parent / "prompts" / "10-b.md").unlink()
    assert store.status_of(take(main).contents).is_granted


def test_going_back_to_the_trusted_content_is_trusted_again(store: TrustStore, main: Path) -> None:
    before = main.read_text()
    store.trust_snapshot(take(main))
    main.write_text("")
    assert not store.status_of(take(main).contents).is_granted
    main.write_text(before)
    assert store.status_of(take(main).contents).is_granted


def test_a_prompt_turned_into_an_escaping_link_needs_trust_again(store: TrustStore, main: Path, tmp_path: Path) -> None:
    store.trust_snapshot(take(main))
    prompt = main.parent / "prompts" / "10-a.md"
    write(tmp_path / "same.md", prompt.read_text())
    prompt.unlink()
    prompt.symlink_to(tmp_path / "same.md")
    assert store.status_of(take(main).contents).state == "changed"
    assert "not used: prompts/10-a.md, it leads outside the workflow's folder" in difference(store, main)


def test_the_same_content_elsewhere_is_not_trusted(store: TrustStore, main: Path, work: Workplace) -> None:
    store.trust_snapshot(take(main))
    copy = work.workflow("copy/workflow.py", main.read_text())
    work.workflow("copy/prompts/10-a.md", "first\n")
    assert take(copy).fingerprint == take(main).fingerprint
    assert store.status_of(take(copy).contents).state == "never"


def test_a_link_to_a_trusted_workflow_is_that_workflow(store: TrustStore, main: Path, work: Workplace) -> None:
    store.trust_snapshot(take(main))
    link = work.repo / "link"
    link.symlink_to(main.parent)
    assert store.status_of(take(link / "workflow.py").contents).is_granted


def test_a_single_file_is_trusted_with_its_prompts(store: TrustStore, work: Workplace) -> None:
    main = work.workflow("fix.yaml", YAML.format(name="fix"))
    store.trust_snapshot(take(main))
    work.workflow("other.yaml", "name: other")
    assert store.status_of(take(main).contents).is_granted
    work.workflow("prompts/10-a.md", "new")
    assert store.status_of(take(main).contents).state == "changed"


def test_a_configuration_with_commands_can_be_trusted_too(store: TrustStore, work: Workplace) -> None:
    config = work.repository(".handrail/config.toml", '[checks]\ntest = "make"\n')
    store.trust_snapshot(take(config))
    assert store.status_of(take(config).contents).is_granted
    config.write_text('[checks]\ntest = "rm -rf ~"\n')
    assert store.status_of(take(config).contents).state == "changed"


def test_trust_can_be_withdrawn(store: TrustStore, main: Path, work: Workplace) -> None:
    store.trust_snapshot(take(main))
    assert store.forget([main.parent])
    assert store.status_of(take(main).contents).state == "never"
    assert not store.forget([main.parent])
    assert list((work.folders.data / "trust").iterdir()) == []


def test_what_is_no_workflow_cannot_be_trusted(store: TrustStore, work: Workplace) -> None:
    os.mkfifo(work.repo / "pipe.yaml")
    with pytest.raises(UsageError, match="cannot be trusted: it does not exist"):
        store.trust_snapshot(take(work.repo / "gone.yaml"))
    with pytest.raises(UsageError, match="cannot be trusted: it is not a regular file"):
        store.trust_snapshot(take(work.repo / "pipe.yaml"))


def test_trust_is_given_to_the_bytes_that_were_shown(store: TrustStore, main: Path) -> None:
    shown = take(main)
    main.write_text("import os; os.system('evil')\n")
    store.trust_snapshot(shown)
    assert store.status_of(shown.contents).is_granted
    assert store.status_of(take(main).contents).state == "changed"


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
        return take(base / "workflow.yaml").fingerprint

    assert (of(one) == of(two)) == (one == two)
