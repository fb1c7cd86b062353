"""Repositories that mean harm, and machines that refuse: commands stay quick and leave nothing behind."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from handrail.cli.main import cli
from handrail.cli.render.diagnostics import render_diagnostic
from handrail.cli.render.workflow_list import render_listing
from handrail.model.diagnostics import Diagnostic, Severity
from handrail.operations.workflows.import_ import import_workflows
from handrail.operations.workflows.list import WorkflowEntry, list_workflows
from handrail.sources.tiers import Location, here
from handrail.sources.trust.file import TrustFile, TrustRecord
from handrail.sources.workflow_files import MAX_ENTRIES
from support.cli.shop import Shop

HOSTILE = "a; touch pwned"


def at_home(shop: Shop) -> Location:
    return here(shop.root, {"HANDRAIL_HOME": str(shop.home)})


def without_hash(listed: WorkflowEntry) -> dict[str, object]:
    return {name: getattr(listed, name) for name in ("name", "tier", "path", "description", "valid", "wins", "steps")}


def test_a_mark_in_the_middle_of_a_huge_line_is_shown_with_what_is_near() -> None:
    line = "x" * 400_000 + "HERE" + "y" * 400_000
    shown = render_diagnostic(Diagnostic(Severity.ERROR, "c", "m", "f", 1, 400_001, 400_005, line))
    _, source, mark = shown.split("\n")
    assert source == "    1 | …" + "x" * 30 + "HERE" + "y" * 66 + "…"
    assert mark == "      |  " + " " * 30 + "^^^^"


def test_a_folder_with_too_many_files_is_refused_as_a_whole(shop: Shop) -> None:
    main = shop.workflow("own")
    for number in range(MAX_ENTRIES):
        (main.parent.parent / f"{number}.txt").touch()
    result = shop.call("list")
    assert result.exit_code == 0
    assert "it holds more than 2000 files and folders" in result.stderr
    assert "fix-bug" in result.stdout


@pytest.mark.parametrize("command", [("compile", HOSTILE), ("list",)])
def test_a_file_name_cannot_smuggle_a_command_into_what_to_do_next(shop: Shop, command: tuple[str, ...]) -> None:
    shop.write(f".handrail/workflows/{HOSTILE}.yaml", "name: x\n")
    result = shop.call(*command)
    assert f"next: handrail validate '.handrail/workflows/{HOSTILE}.yaml'" in result.output


def test_the_list_for_people_says_the_same_as_the_pinned_one(shop: Shop) -> None:
    shop.workflow("own")
    place = at_home(shop)
    quick, pinned = list_workflows(place, pinned=False).workflows, list_workflows(place).workflows
    assert [without_hash(each) for each in quick] == [without_hash(each) for each in pinned]
    assert all(each.hash for each in pinned)
    assert {each.name for each in quick if each.hash} == {"own"}


def test_the_list_for_people_counts_routines_without_reading_them(shop: Shop) -> None:
    place = at_home(shop)
    counted, whole = list_workflows(place, pinned=False, counted=True), list_workflows(place, pinned=False)
    assert render_listing(counted, everything=False) == render_listing(whole, everything=False)
    assert {each.steps for each in counted.workflows if each.is_routine} == {None}
    assert all(each.steps for each in whole.workflows)


def test_built_in_workflows_are_compiled_where_something_of_the_user_reaches_into_them(shop: Shop) -> None:
    text = "name: review-loop\ninput:\n  other: int\nsteps:\n  - name: a\n    prompt: Do it now.\n"
    shop.workflow("review-loop", text)
    listed = {each.name: each for each in list_workflows(at_home(shop), pinned=False).workflows if each.wins}
    assert listed["implement-spec"].valid
    own = at_home(shop).folders.workflows / "review-loop.yaml"
    own.parent.mkdir(parents=True)
    own.write_text(text)
    listed = {each.name: each for each in list_workflows(at_home(shop), pinned=False).workflows if each.wins}
    assert not listed["implement-spec"].valid


def test_an_import_that_fails_half_way_leaves_no_file(shop: Shop, tmp_path: Path) -> None:
    source = tmp_path / "old"
    for folder, name, text in (
        ("grimoires", "tidy.yaml", "name: tidy\nsteps:\n  - name: clean\n    type: agent\n    spell: clean\n"),
        ("spells", "clean.md", "Remove what nobody uses."),
    ):
        (source / folder).mkdir(parents=True)
        (source / folder / name).write_text(text)
    (shop.root / "to" / "tidy" / "workflow.yaml").mkdir(parents=True)
    result = CliRunner().invoke(cli, ["import", str(source), "--to", "to", "--force"])
    assert (result.exit_code, "workflow.yaml cannot be written" in result.stderr) == (1, True)
    assert [path for path in (shop.root / "to").rglob("*") if path.is_file()] == []


def test_an_imported_workflow_gets_a_name_under_which_it_is_listed(shop: Shop, tmp_path: Path) -> None:
    source = tmp_path / "old" / "grimoires" / "versions.yaml"
    source.parent.mkdir(parents=True)
    source.write_text("name: versions\nsteps:\n  - name: clean\n    type: script\n    command: make clean\n")
    import_workflows(at_home(shop), tmp_path / "old")
    assert "versions-workflow" in {each.name for each in list_workflows(at_home(shop)).workflows}


def test_trust_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    file = TrustFile(tmp_path)
    (tmp_path / "trust.json").mkdir()
    (tmp_path / "trust").mkdir()
    with pytest.raises(OSError, match="irectory"):
        file._write(TrustRecord())  # pyright: ignore[reportPrivateUsage]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["trust", "trust.json"]


def test_a_home_that_is_a_file_is_named_when_trust_is_to_be_recorded(shop: Shop) -> None:
    shop.workflow("own")
    shop.home.write_text("")
    result = shop.call("trust", "own", "--yes")
    assert result.exit_code == 1
    assert f"next: check the permissions of {shop.home}" in result.stderr


def test_json_before_the_command_says_where_it_goes(shop: Shop) -> None:
    result = shop.call("--json", "list")
    assert result.exit_code == 2
    assert json.loads(result.stdout)["error"]["next"] == "handrail COMMAND --json"


def test_a_report_that_cannot_be_written_is_the_machines_fault(shop: Shop) -> None:
    shop.workflow("own")
    data = shop.json("validate", "own", "--sarif", "no/such/folder/x", code=1)
    assert data["error"]["code"] == "environment"
