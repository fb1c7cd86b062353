"""The next steps of what seldom happens: an apply that was cut off, agents that were kept from something, the demo."""

from pathlib import Path

import pytest

from handrail.cli.demo.place import throw_away
from handrail.cli.demo.terminal import NEXT
from handrail.errors import EnvironmentFault, PersonOnly
from handrail.operations.runs import lifecycle
from handrail.wiring.session import open_session
from support.cli.running import ASKING, Runs
from support.cli.team import Team
from support.next_steps.follow import follow, in_a_shell, in_process

pytestmark = pytest.mark.system  # takes long: many processes of its own


def test_the_word_of_an_agent_for_a_person_leads_to_the_status(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    runs.add("ask", ASKING)
    runs.text("run", "ask", code=3)
    monkeypatch.setenv("HANDRAIL_HOME", str(runs.shop.home))
    with open_session() as session, pytest.raises(PersonOnly) as refused:
        lifecycle.answer(session.writer, "ask-1", "approve", "agent:other-1/work")
    follow(
        in_process(runs),
        str(refused.value.next_step),
        "ask a person to look at it: handrail status {}",
        shows="handrail approve ask-1",
    )


@pytest.mark.system
def test_the_demo_is_told_wherever_it_is_named_and_leads_to_init(team: Team) -> None:
    shell = in_a_shell(team.runs)
    told = follow(shell, team.text(), "handrail demo", shows="That took")
    follow(shell, team.text("doctor"), "handrail init, or handrail demo", at=1, shows="That took")
    follow(
        shell, told.text, "That took {} s{}\nNext: cd your-repo && handrail init", code=2, shows="handrail init --yes"
    )


@pytest.mark.system
def test_outside_a_repository_the_demo_comes_first(team: Team, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    monkeypatch.chdir(outside)
    said = team.text("doctor")
    shell = in_a_shell(team.runs)
    follow(shell, said, "handrail demo, or cd into a repository and handrail init", shows="That took")
    follow(
        shell,
        said,
        "handrail demo, or cd into a repository and handrail init",
        at=1,
        code=2,
        shows="handrail init --yes",
    )


@pytest.mark.system
def test_a_demo_that_finds_no_room_or_does_not_hold_is_told_again(
    team: Team, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", "/nonexistent")
    with pytest.raises(EnvironmentFault) as refused, throw_away(keep=False):
        pass
    shell = in_a_shell(team.runs, TMPDIR=str(tmp_path))
    own = {"A_FOLDER_OF_YOURS": str(tmp_path)}
    said = str(refused.value.next_step)
    follow(shell, said, "TMPDIR=A_FOLDER_OF_YOURS handrail demo", fill=own, shows="That took")
    assert not [*tmp_path.glob("handrail-demo*")]
    follow(shell, NEXT, "run `handrail demo --keep`, and look at the files it leaves", shows="That took")
    assert [*tmp_path.glob("handrail-demo*")]
