import os
import sys
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from handrail.errors import NotFound
from handrail.model.diagnostics import Report
from handrail.sources.tiers import Location, Tier, discover, find, here
from support.privileges import held_by_modes
from support.sources.workplace import JSON, YAML, Workplace, write


def standing(work: Workplace, name: str) -> list[tuple[str, bool, tuple[str, ...], str | None]]:
    return [(str(each.tier), each.wins, each.shadows, each.shadowed_by) for each in work.named(name)]


def test_the_built_in_workflows_and_routines_are_always_there(work: Workplace) -> None:
    names = {each.name for each in work.all() if each.tier is Tier.BUILT_IN}
    assert {"fix-bug", "review-loop", "routine-ideation"} <= names
    assert all(each.problem is None and each.wins for each in work.all())


def test_here_reads_the_environment_and_looks_upwards(work: Workplace, tmp_path: Path) -> None:
    deep = work.repo / "a" / "b"
    deep.mkdir(parents=True)
    place = here(deep, {"HANDRAIL_HOME": str(work.home)})
    assert place == Location(work.folders, work.repo, deep)
    assert here(Path("/"), {"HANDRAIL_HOME": str(work.home)}).repository is None


def test_folders_and_single_files_of_every_form_are_found(work: Workplace) -> None:
    for path in ("a/workflow.yaml", "b/workflow.yml", "c.yaml", "d.yml"):
        work.workflow(path, "name: x")
    work.workflow("e/workflow.json", JSON.format(name="wr.e"))
    work.workflow("f.json", JSON.format(name="team.f"))
    work.workflow("g/workflow.py", work.python("g"))
    work.workflow("h.py", work.python("h"))
    found = [(each.name, each.form, each.folder) for each in work.all() if each.tier is Tier.REPOSITORY]
    assert found == [
        ("a", "yaml", True),
        ("b", "yaml", True),
        ("c", "yaml", False),
        ("d", "yaml", False),
        ("g", "python", True),
        ("h", "python", False),
        ("team.f", "json", False),
        ("wr.e", "json", True),
    ]
    assert not work.mark.exists()


def test_what_is_no_workflow_is_not_listed(work: Workplace) -> None:
    hidden = (".hidden.yaml", ".x/workflow.yaml", "_draft.yaml", "_old/workflow.yaml")
    versions = ("versions/workflow.yaml", "fix/versions/workflow.yaml")
    others = ("prompts/10-a.md", "notes.md", "hooks.py", "group/inner/workflow.yaml", "examples/e.json", "empty/x")
    for path in (*hidden, *versions, *others):
        work.workflow(path, "name: x")
    assert [each.name for each in work.all() if each.tier is Tier.REPOSITORY] == []


def test_routines_are_found_one_level_below(work: Workplace) -> None:
    work.workflow("routines/r.json", JSON.format(name="routine-mine"))
    work.workflow("routines/r.yaml", "name: r")
    work.workflow("routines/deeper/s.json", JSON.format(name="routine-deep"))
    assert [each.name for each in work.all() if each.tier is Tier.REPOSITORY] == ["routine-mine"]


def test_the_first_tier_with_the_name_wins(work: Workplace) -> None:
    assert standing(work, "fix-bug") == [("built-in", True, (), None)]
    work.workflow("fix-bug/workflow.yaml", YAML.format(name="fix-bug"))
    assert standing(work, "fix-bug") == [
        ("repository", True, ("built-in",), None),
        ("built-in", False, (), "repository"),
    ]
    work.user("fix-bug.yaml", YAML.format(name="fix-bug"))
    assert standing(work, "fix-bug") == [
        ("user", True, ("repository", "built-in"), None),
        ("repository", False, (), "user"),
        ("built-in", False, (), "user"),
    ]
    assert work.find("fix-bug").tier is Tier.USER


def test_a_broken_file_still_wins_over_a_weaker_tier(work: Workplace) -> None:
    work.user("fix-bug.yaml", "{{{ broken")
    assert work.find("fix-bug").tier is Tier.USER


def test_a_routine_is_shadowed_with_and_without_its_prefix(work: Workplace) -> None:
    work.workflow("i.json", JSON.format(name="wr.routine-ideation"))
    assert standing(work, "wr.routine-ideation") == [("repository", True, ("built-in",), None)]
    assert standing(work, "routine-ideation") == [("built-in", False, (), "repository")]
    assert work.find("routine-ideation").tier is Tier.REPOSITORY


def test_json_goes_by_its_id_and_variants_by_their_order(work: Workplace) -> None:
    for name in ("t.json", "t.agentic.json", "t.v2.json", "t.lean.json"):
        work.workflow(name, JSON.format(name="wr.t"))
    found = work.named("wr.t")
    assert [each.main.name for each in found] == ["t.lean.json", "t.v2.json", "t.agentic.json", "t.json"]
    assert [each.wins for each in found] == [True, False, False, False]
    assert found[0].shadows == tuple(
        f"repository: workflows/{name}" for name in ("t.v2.json", "t.agentic.json", "t.json")
    )
    assert found[3].shadowed_by == "repository: workflows/t.lean.json"


def test_a_variant_does_not_beat_a_stronger_tier(work: Workplace) -> None:
    work.workflow("t.lean.json", JSON.format(name="wr.t"))
    work.user("t.json", JSON.format(name="wr.t"))
    assert work.find("wr.t").tier is Tier.USER


@pytest.mark.parametrize(
    "text", ["{", "[]", "{}", '{"id": 3}', '{"id": " "}', "[" * 100_000, '{"id": ' + "9" * 5000 + "}"]
)
def test_json_without_an_id_goes_by_its_file(work: Workplace, text: str) -> None:
    work.workflow("stem.json", text)
    assert [each.main.name for each in work.named("stem")] == ["stem.json"]


def test_a_folder_of_the_name_comes_before_a_file_of_the_name(work: Workplace) -> None:
    work.workflow("fix.yaml", YAML.format(name="fix"))
    work.workflow("fix/workflow.yaml", YAML.format(name="fix"))
    assert [(each.folder, each.wins) for each in work.named("fix")] == [(True, True), (False, False)]


def test_two_workflow_files_in_one_folder_are_a_problem(work: Workplace) -> None:
    work.workflow("fix/workflow.yaml", YAML.format(name="fix"))
    work.workflow("fix/workflow.py", work.python("fix"))
    (found,) = work.named("fix")
    assert found.problem == "it contains both workflow.yaml and workflow.py; keep one of them"


def test_a_workflow_file_without_a_folder_of_its_own_is_a_problem(work: Workplace) -> None:
    work.workflow("workflow.yaml", YAML.format(name="x"))
    (found,) = work.named("workflow")
    assert found.problem == "it must be in its own folder, such as workflows/my-workflow/workflow.yaml"


def test_files_that_cannot_be_read_stay_listed(work: Workplace) -> None:
    folder = work.repo / ".handrail" / "workflows"
    folder.mkdir(parents=True)
    os.mkfifo(folder / "pipe.yaml")
    (folder / "nowhere.json").symlink_to("missing.json")
    (folder / "loop.yaml").symlink_to("loop.yaml")
    (folder / "dir" / "workflow.yaml").mkdir(parents=True)
    problems = {each.name: each.problem for each in work.all() if each.tier is Tier.REPOSITORY}
    assert problems["pipe"] == "it is not a regular file"
    assert problems["nowhere"] == "it is a link that leads nowhere"
    assert problems["dir"] == "it is not a regular file"
    assert problems["loop"]


def test_a_repositorys_link_to_the_outside_is_listed_and_refused(work: Workplace, tmp_path: Path) -> None:
    outside = write(tmp_path / "outside" / "workflow.yaml", YAML.format(name="x"))
    folder = work.repo / ".handrail" / "workflows"
    folder.mkdir(parents=True)
    (folder / "one").symlink_to(outside.parent)
    (folder / "two.yaml").symlink_to(outside)
    problems = {each.name: each.problem for each in work.all() if each.tier is Tier.REPOSITORY}
    assert problems == dict.fromkeys(("one", "two"), "it leads outside the repository")


def test_a_user_may_link_to_workflows_kept_elsewhere(work: Workplace, tmp_path: Path) -> None:
    outside = write(tmp_path / "dotfiles" / "mine" / "workflow.yaml", YAML.format(name="mine"))
    work.folders.workflows.mkdir(parents=True)
    (work.folders.workflows / "mine").symlink_to(outside.parent)
    assert work.find("mine").problem is None


def test_a_tier_folder_that_leaves_the_repository_is_reported(work: Workplace, tmp_path: Path) -> None:
    write(tmp_path / "outside" / "x.yaml", "name: x")
    (work.repo / ".handrail").mkdir()
    (work.repo / ".handrail" / "workflows").symlink_to(tmp_path / "outside")
    report = Report()
    assert not [each for each in work.all(report) if each.tier is Tier.REPOSITORY]
    assert [each.message for each in report] == ["the workflow folder is not used: it leads outside the repository"]
    assert [each.file for each in report] == [".handrail/workflows"]


def test_a_tier_folder_that_is_a_circle_of_links_is_no_folder(work: Workplace) -> None:
    work.home.mkdir()
    work.folders.workflows.symlink_to("workflows")
    assert "fix-bug" in {each.name for each in work.all()}


def test_folders_without_permission_are_said(work: Workplace) -> None:
    folder = work.workflow("shut/workflow.yaml", YAML.format(name="shut")).parent
    folder.chmod(0)
    with held_by_modes():
        assert [each.problem for each in work.named("shut")] == ["permission denied"]
        folder.parent.chmod(0)
        report = Report()
        work.all(report)
    assert [each.message for each in report] == ["the workflow folder is not used: permission denied"]
    folder.parent.chmod(0o700)
    folder.chmod(0o700)


def test_further_folders_of_the_configuration_are_searched_after_the_own(work: Workplace) -> None:
    work.repository("tools/flows/fix.yaml", YAML.format(name="fix"))
    work.repository("tools/flows/more.yaml", YAML.format(name="more"))
    work.workflow("fix.yaml", YAML.format(name="fix"))
    work.repository(".handrail/config.toml", '[workflows]\nfolders = ["tools/flows"]\n')
    assert work.find("more").tier is Tier.REPOSITORY
    assert work.find("fix").main == work.repo / ".handrail" / "workflows" / "fix.yaml"
    assert [each.shadowed_by for each in work.named("fix")] == [None, "repository: workflows/fix.yaml"]


def test_a_folder_named_twice_is_listed_once(work: Workplace) -> None:
    work.workflow("fix.yaml", YAML.format(name="fix"))
    work.repository(".handrail/config.toml", '[workflows]\nfolders = [".handrail/workflows"]\n')
    assert len(work.named("fix")) == 1


def test_without_a_repository_there_are_two_tiers(work: Workplace) -> None:
    work.workflow("mine.yaml", YAML.format(name="mine"))
    found = discover(Location(work.folders, None, work.repo), Report())
    assert {each.tier for each in found} == {Tier.BUILT_IN}


@pytest.mark.parametrize("name", ["new\nline", "\x1b[31mred", "-rf", "a b", "x" * 200, "ünïcode", "$(id)", "..."])
def test_hostile_names_are_listed_and_can_be_printed(work: Workplace, name: str) -> None:
    work.workflow(f"{name}/workflow.yaml" if name != "..." else "a.../workflow.yaml", YAML.format(name="x"))
    (found,) = [each for each in work.all() if each.tier is Tier.REPOSITORY]
    assert found.name.isprintable()
    assert len(found.name) <= 128


def test_a_hostile_id_can_be_printed(work: Workplace) -> None:
    work.workflow("x.json", '{"id": "\\u001b[31m\\u202e\\ud800"}')
    (found,) = [each for each in work.all() if each.tier is Tier.REPOSITORY]
    assert found.name.isprintable()


@pytest.mark.skipif(sys.platform == "darwin", reason="the file system takes no such names")
def test_a_name_that_is_no_utf8_is_listed(work: Workplace) -> None:
    work.workflow(os.fsdecode(b"bad\xff.yaml"), "name: bad")
    (found,) = [each for each in work.all() if each.tier is Tier.REPOSITORY]
    assert found.name == "bad\\udcff"


def test_a_path_is_taken_before_a_name(work: Workplace) -> None:
    work.repository("fix-bug.yaml", YAML.format(name="fix-bug"))
    work.repository("flows/fix-bug/workflow.yaml", YAML.format(name="fix-bug"))
    assert work.find("fix-bug.yaml").main == work.repo / "fix-bug.yaml"
    assert work.find("./fix-bug.yaml").tier is Tier.REPOSITORY
    assert work.find("flows/fix-bug").main.name == "workflow.yaml"
    assert work.find("flows/fix-bug/workflow.yaml").folder
    assert work.find(str(work.repo / "flows" / "fix-bug" / "")).name == "fix-bug"
    assert work.find("fix-bug").tier is Tier.BUILT_IN


def test_a_path_from_inside_the_folder_knows_the_folders_name(work: Workplace) -> None:
    main = work.repository("flows/fix/workflow.yaml", YAML.format(name="fix"))
    inside = Location(work.folders, work.repo, main.parent)
    for path in ("./", "workflow.yaml", "../fix", "./workflow.yaml"):
        assert find(inside, path, Report()).name == "fix"


def test_a_path_into_the_users_or_the_librarys_folder_has_that_tier(work: Workplace) -> None:
    own = work.user("mine/workflow.yaml", YAML.format(name="mine"))
    assert work.find(str(own)).tier is Tier.USER
    assert work.find(str(work.find("fix-bug").main)).tier is Tier.BUILT_IN


@pytest.mark.parametrize(
    "path", ["no/such.yaml", "gone.json", "src/", "a\0b.yaml", "x" * 5000 + ".yaml", "/", "README/x"]
)
def test_a_path_without_a_workflow_is_not_found(work: Workplace, path: str) -> None:
    (work.repo / "src").mkdir()
    with pytest.raises(NotFound, match="there is no workflow at"):
        work.find(path)


def test_an_unknown_name_says_what_is_near_and_where_it_was_searched(work: Workplace) -> None:
    with pytest.raises(NotFound) as caught:
        work.find("fix-bgu")
    assert caught.value.message == snapshot("there is no workflow 'fix-bgu', did you mean 'fix-bug'?")
    assert (caught.value.next_step or "").replace(str(work.home), "HOME") == snapshot(
        "handrail list shows all workflows; searched: user (HOME/workflows), repository (.handrail/workflows), built-in"
    )
    with pytest.raises(NotFound) as caught:
        find(Location(work.folders, None, work.repo), "zzz", Report())
    assert (caught.value.next_step or "").replace(str(work.home), "HOME") == snapshot(
        "handrail list shows all workflows; searched: user (HOME/workflows), repository (none here), built-in"
    )


def test_an_unknown_name_of_a_folder_in_front_of_the_user_says_how_to_name_it(work: Workplace) -> None:
    work.repository("mine/workflow.yaml", YAML.format(name="mine"))
    with pytest.raises(NotFound) as caught:
        work.find("mine")
    assert (caught.value.next_step or "").startswith("for the folder here, write ./mine; ")
