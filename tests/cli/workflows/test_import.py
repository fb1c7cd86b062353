"""`handrail import` writes native workflows, says what became of everything, and overwrites nothing unasked."""

import json
from pathlib import Path

import pytest

from support.cli.shop import Shop

WORKRAIL = {
    "id": "retry-it",
    "name": "Retry it",
    "version": "1.0.0",
    "description": "Tries again.",
    "steps": [
        {"id": "try", "title": "Try", "prompt": "Try it, please."},
        {"id": "say", "title": "Say", "prompt": "Say how it went.", "requireConfirmation": True},
    ],
}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    file = tmp_path / "elsewhere" / "retry-it.json"
    file.parent.mkdir()
    file.write_text(json.dumps(WORKRAIL, indent=2))
    return file


def test_a_file_becomes_a_workflow_of_the_repository(shop: Shop, source: Path) -> None:
    data = shop.json("import", str(source))
    assert (data["kind"], data["ok"]) == ("workrail", True)
    assert ".handrail/workflows/retry-it/workflow.yaml" in data["written"]
    assert {"severity", "file", "line", "message"} == set(data["notes"][0])
    assert shop.json("inspect", "retry-it")["valid"]


def test_the_text_form_groups_the_notes_and_gives_the_verdict(shop: Shop, source: Path) -> None:
    lines = shop.call("import", str(source), "--to", "flows").stdout.splitlines()
    assert lines[0].startswith("wrote flows/retry-it/")
    assert any(line.startswith(("Translated: ", "Changed: ", "Lost: ")) for line in lines)
    assert "1 workflow valid" in lines[-1]


def test_outside_of_a_repository_it_writes_to_the_current_folder(shop: Shop, source: Path) -> None:
    shop.leave_repository()
    shop.json("import", str(source))
    assert (shop.root / "retry-it" / "workflow.yaml").is_file()


def test_what_is_there_stays_unless_forced(shop: Shop, source: Path) -> None:
    shop.json("import", str(source))
    file = shop.root / ".handrail/workflows/retry-it/workflow.yaml"
    file.write_text("mine")
    result = shop.call("import", str(source))
    assert result.exit_code == 2
    assert "already exists: " in result.stderr
    assert file.read_text() == "mine"
    assert shop.json("import", str(source), "--force")["ok"]
    assert file.read_text() != "mine"


def test_a_whole_folder_is_imported(shop: Shop, source: Path) -> None:
    second = {**WORKRAIL, "id": "other"}
    (source.parent / "other.json").write_text(json.dumps(second))
    (source.parent / "picture.png").write_bytes(b"\xff\x00")
    written = shop.json("import", str(source.parent))["written"]
    assert {Path(path).parts[2] for path in written} == {"retry-it", "other"}


def test_a_file_that_is_not_read_is_noted(shop: Shop, source: Path) -> None:
    (source.parent / "picture.png").write_bytes(b"\xff\x00")
    notes = shop.json("import", str(source.parent))["notes"]
    assert {
        "severity": "lost",
        "file": "picture.png",
        "line": 1,
        "message": "the file was not read: it is not UTF-8 text",
    } in notes


def test_a_folder_that_is_a_link_elsewhere_is_refused(shop: Shop, source: Path) -> None:
    (source.parent / "sub").symlink_to("/etc")
    assert shop.call("import", str(source.parent)).exit_code == 2


def test_a_link_out_of_the_folder_is_refused(shop: Shop, source: Path) -> None:
    (source.parent / "passwd.md").symlink_to("/etc/passwd")
    result = shop.call("import", str(source.parent))
    assert result.exit_code == 2
    assert "passwd.md leads outside what is imported" in result.stderr


def test_a_target_that_leads_elsewhere_is_not_written_to(shop: Shop, source: Path, tmp_path: Path) -> None:
    (tmp_path / "victim").mkdir()
    (shop.root / ".handrail/workflows").mkdir(parents=True)
    (shop.root / ".handrail/workflows/retry-it").symlink_to(tmp_path / "victim")
    assert shop.call("import", str(source), "--force").exit_code == 2
    assert list((tmp_path / "victim").iterdir()) == []


def test_too_many_files_are_refused(shop: Shop, source: Path) -> None:
    for number in range(501):
        (source.parent / f"{number}.md").write_text("x")
    result = shop.call("import", str(source.parent))
    assert result.exit_code == 2
    assert "contains more than 500 files" in result.stderr


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff", b"hello", b"x" * 1_100_000, b'{"steps": ['])
def test_what_cannot_be_imported_is_a_usage_error(shop: Shop, source: Path, content: bytes) -> None:
    source.write_bytes(content)
    result = shop.call("import", str(source))
    assert result.exit_code == 2
    assert "internal error" not in result.stderr
    assert not (shop.root / ".handrail").exists()


def test_a_source_that_does_not_exist_is_said_so(shop: Shop) -> None:
    assert shop.json("import", "nowhere", code=2)["error"]["code"] == "not-found"


def test_an_imported_workflow_is_trusted_with_what_the_project_binds_to_its_slots(shop: Shop, tmp_path: Path) -> None:
    slot = {"slotId": "how", "purpose": "How to look.", "default": "routine-design-review"}
    look = {"id": "look", "title": "Look", "prompt": "Look with {{wr.bindings.how}}."}
    reference = {"id": "guide", "title": "Guide", "source": "a.md", "purpose": "Style.", "authoritative": True}
    more = {"id": "slotted", "steps": [look], "references": [reference], "extensionPoints": [slot]}
    file = tmp_path / "slotted.json"
    file.write_text(json.dumps({**WORKRAIL, **more}))
    assert shop.json("import", str(file))["ok"]
    before = shop.json("inspect", "slotted")
    assert before["trust"]["state"] == "never"
    assert [each["id"] for each in before["references"]] == ["guide"]
    assert shop.call("trust", "slotted", "--yes").exit_code == 0
    assert shop.json("inspect", "slotted")["trust"]["state"] == "trusted"
    (shop.root / ".handrail/bindings.json").write_text('{"slotted": {"how": "routine-plan-analysis"}}')
    after = shop.json("inspect", "slotted")
    assert (after["valid"], after["hash"] != before["hash"]) == (True, True)
    assert after["trust"]["state"] != "trusted"
