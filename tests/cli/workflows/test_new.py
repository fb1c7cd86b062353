"""`handrail new` writes a workflow that can be tested and run as it is."""

from pathlib import Path

import pytest
from inline_snapshot import snapshot

from support.cli.team import Team


def test_a_new_workflow_is_valid_trusted_and_passes_its_own_tests(team: Team) -> None:
    assert team.text("new", "fix-typos") == snapshot("""\
Wrote .handrail/workflows/fix-typos/
  prompts/10-work.md
  tests/fix-typos.yaml
  workflow.yaml
Next: handrail test fix-typos, then edit it, and: handrail run fix-typos "what to do"
""")
    assert "you trusted this content" in team.text("trust", "fix-typos", "--show")
    assert team.text("lint", "fix-typos") == "1 workflow valid\n"
    assert "2 passed" in team.text("test", "fix-typos")


def test_a_workflow_that_is_there_is_not_touched(team: Team) -> None:
    team.text("new", "fix-typos")
    file = team.root / ".handrail/workflows/fix-typos/workflow.yaml"
    file.write_text("mine\n")
    assert "the workflow fix-typos already" in team.text("new", "fix-typos", code=2)
    assert file.read_text() == "mine\n"


def test_a_workflow_may_be_written_among_the_users_own_and_says_what_it_hides(team: Team) -> None:
    data = team.json("new", "fix-bug", "--to", "user")
    assert (data["tier"], data["hides"]) == ("user", ["built-in"])
    assert Path(data["folder"], "workflow.yaml").is_file()


@pytest.mark.parametrize("name", ["Fix It", "../x", "", "-x", "a/b"])
def test_a_name_that_is_no_name_is_refused(team: Team, name: str) -> None:
    assert "is not a valid workflow name" in team.text("new", "--", name, code=2)


def test_a_link_that_leads_out_of_the_repository_is_not_followed(team: Team, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (team.root / ".handrail").symlink_to(outside)
    assert "leads outside the repository" in team.text("new", "fix-typos", code=2)
    assert list(outside.iterdir()) == []
