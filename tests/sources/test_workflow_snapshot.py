import os
import sys
from pathlib import Path

import pytest

from handrail.model.source import Bundle
from handrail.sources.workflow_snapshot import MAX_COMPANIONS, MAX_DEPTH, take
from support.privileges import held_by_modes
from support.sources.workplace import YAML, write

TOO_MUCH = "x" * (1024 * 1024 + 1)


def load(main: Path) -> Bundle:
    return take(main).bundle(lambda path: str(path.relative_to(main.parent)))


@pytest.fixture
def main(tmp_path: Path) -> Path:
    return write(tmp_path / "fix" / "workflow.yaml", YAML.format(name="fix"))


def test_a_folder_gives_its_prompts_schemas_and_texts(main: Path) -> None:
    for path in ("prompts/10-a.md", "prompts/deep/b.md", "schemas/x.json", "notes.md"):
        write(main.parent / path, f"text of {path}")
    bundle = load(main)
    assert bundle.main == "workflow.yaml"
    assert set(bundle.files) == {"workflow.yaml", "prompts/10-a.md", "prompts/deep/b.md", "schemas/x.json", "notes.md"}
    assert bundle.files["prompts/deep/b.md"].text == "text of prompts/deep/b.md"
    assert bundle.refused == {}


def test_versions_tests_and_other_files_are_not_loaded(main: Path) -> None:
    for path in ("versions/10-a.v1.md", "tests/t.yaml", "data/x.md", "setup.sh", ".hidden.md", "prompts/.b.md"):
        write(main.parent / path, "no")
    assert set(load(main).files) == {"workflow.yaml"}


def test_a_single_file_has_its_prompts_beside_it(tmp_path: Path) -> None:
    main = write(tmp_path / "fix.yaml", YAML.format(name="fix"))
    write(tmp_path / "prompts" / "10-a.md", "a")
    write(tmp_path / "other.yaml", "b")
    assert set(load(main).files) == {"fix.yaml", "prompts/10-a.md"}


def test_texts_carry_the_path_that_is_shown(main: Path) -> None:
    write(main.parent / "prompts" / "a.md", "a")
    bundle = take(main).bundle(lambda path: f"shown/{path.name}")
    assert bundle.files["prompts/a.md"].path == "shown/a.md"
    assert bundle.source.path == "shown/workflow.yaml"


@pytest.mark.parametrize("target", ["../secret.md", "/etc/passwd"])
def test_a_link_that_leaves_the_folder_is_refused(main: Path, target: str) -> None:
    write(main.parent.parent / "secret.md", "secret")
    link = main.parent / "prompts" / "10-a.md"
    link.parent.mkdir()
    link.symlink_to(f"../{target}" if target.startswith(".") else target)
    bundle = load(main)
    assert "prompts/10-a.md" not in bundle.files
    assert bundle.refused == {"prompts/10-a.md": "it leads outside the workflow's folder"}


def test_a_linked_folder_that_leaves_is_refused_and_not_looked_into(main: Path) -> None:
    write(main.parent.parent / "shared" / "a.md", "secret")
    (main.parent / "prompts").symlink_to("../shared")
    bundle = load(main)
    assert set(bundle.files) == {"workflow.yaml"}
    assert bundle.refused == {"prompts": "it leads outside the workflow's folder"}


def test_links_inside_the_folder_are_followed(main: Path) -> None:
    write(main.parent / "versions" / "10-a.v2.md", "second")
    (main.parent / "prompts").mkdir()
    (main.parent / "prompts" / "10-a.md").symlink_to("../versions/10-a.v2.md")
    assert load(main).files["prompts/10-a.md"].text == "second"


def test_a_workflow_folder_may_itself_be_reached_by_a_link(main: Path) -> None:
    write(main.parent / "prompts" / "a.md", "a")
    link = main.parent.parent / "link"
    link.symlink_to(main.parent)
    assert set(load(link / "workflow.yaml").files) == {"workflow.yaml", "prompts/a.md"}


@pytest.mark.parametrize("name", ["loop.md", "nowhere.md"])
def test_links_that_lead_nowhere_are_refused(main: Path, name: str) -> None:
    link = main.parent / name
    link.symlink_to(name if name == "loop.md" else "missing.md")
    assert load(main).refused[name].startswith("it ")


def test_a_folder_linked_into_itself_ends(main: Path) -> None:
    (main.parent / "prompts").mkdir()
    (main.parent / "prompts" / "again").symlink_to("..")
    assert "workflow.yaml" in load(main).files


def test_a_named_pipe_is_refused_without_waiting(main: Path) -> None:
    (main.parent / "prompts").mkdir()
    os.mkfifo(main.parent / "prompts" / "10-a.md")
    assert load(main).refused == {"prompts/10-a.md": "it is not a regular file"}


def test_a_main_file_that_is_a_named_pipe_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "workflow.yaml")
    bundle = load(tmp_path / "workflow.yaml")
    assert bundle.refused == {"workflow.yaml": "it is not a regular file"}
    assert bundle.source.text == ""


def test_a_link_to_a_device_is_refused(main: Path) -> None:
    (main.parent / "zero.md").symlink_to("/dev/zero")
    assert "zero.md" in load(main).refused


def test_bytes_that_are_no_text_are_refused(main: Path) -> None:
    write(main.parent / "prompts" / "b.md", "").write_bytes(b"\xff\xfe\x00")
    bundle = load(main)
    assert bundle.refused == {"prompts/b.md": "it is not UTF-8 text"}
    main.write_bytes(b"name: \xff")
    assert load(main).refused["workflow.yaml"] == "it is not UTF-8 text"


def test_files_over_one_mebibyte_are_refused(main: Path) -> None:
    write(main.parent / "prompts" / "big.md", TOO_MUCH)
    write(main.parent / "prompts" / "just.md", TOO_MUCH[1:])
    bundle = load(main)
    assert bundle.refused == {"prompts/big.md": "it is larger than 1 MiB"}
    assert "prompts/just.md" in bundle.files
    main.write_text(TOO_MUCH)
    assert load(main).refused["workflow.yaml"] == "it is larger than 1 MiB"


def test_a_missing_main_file_is_refused(tmp_path: Path) -> None:
    bundle = load(tmp_path / "gone.yaml")
    assert bundle.refused == {"gone.yaml": "it does not exist"}


def test_a_file_without_permission_is_refused(main: Path) -> None:
    write(main.parent / "notes.md", "x").chmod(0)
    with held_by_modes():
        bundle = load(main)
    assert bundle.refused == {"notes.md": "it cannot be read: permission denied"}


def test_a_name_too_long_for_the_system_is_refused(tmp_path: Path) -> None:
    refused = load(tmp_path / ("x" * 300 + ".yaml")).refused
    assert list(refused.values()) == ["it cannot be read: file name too long"]


def test_only_so_many_companions_are_read(main: Path) -> None:
    for number in range(MAX_COMPANIONS + 3):
        write(main.parent / "prompts" / f"{number:04}.md", "x")
    bundle = load(main)
    assert len(bundle.files) == MAX_COMPANIONS + 1
    assert list(bundle.refused.values()) == [f"there are more than {MAX_COMPANIONS} files beside the workflow"]


def test_only_so_many_levels_are_read(main: Path) -> None:
    folder = "prompts/" + "/".join("abcdef"[: MAX_DEPTH - 1])
    write(main.parent / folder / "in.md", "x")
    write(main.parent / folder / "z" / "out.md", "x")
    assert set(load(main).files) == {"workflow.yaml", f"{folder}/in.md"}


@pytest.mark.skipif(sys.platform == "darwin", reason="the file system takes no such names")
def test_names_that_cannot_be_printed_are_refused_by_a_printable_name(main: Path) -> None:
    folder = os.fsencode(main.parent)
    for name in (b"bad\xff.md", b"new\nline.md", b"\x1b[31m.md"):
        Path(os.fsdecode(folder + b"/" + name)).write_text("x")
    bundle = load(main)
    assert set(bundle.files) == {"workflow.yaml"}
    assert len(bundle.refused) == 3
    assert all(name.isprintable() for name in bundle.refused)
