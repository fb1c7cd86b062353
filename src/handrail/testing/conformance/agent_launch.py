"""What an agent must declare, and how it must start: writing only to its folder, its prompt hidden from other users."""
# ruff: noqa: D102, S101 -- these are tests: their names are sentences, and they assert

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from handrail.model.workflow.settings import Access
from handrail.ports.agents import AcceptsMessages, Agent, AgentCall, unmet

PROMPT = "Say nothing of the 4711 purple elephants.\n--dangerous 'quotes\" $HOME `id`\n\udce4\0 end"
SHOWN = "4711 purple elephants"


class LaunchConformance:
    """Tests of an agent's name, its abilities and its start."""

    prompt_as_argument = False
    """Whether the prompt can only be passed as an argument, which others on the machine can read."""

    replays = False
    """Whether the agent only replays recordings, and so has no access level to enforce."""

    @pytest.fixture
    def options(self) -> Mapping[str, str]:
        return {}

    @pytest.fixture
    def call(self, tmp_path: Path, options: Mapping[str, str]) -> AgentCall:
        workspace = tmp_path / "workspace"
        workspace.mkdir()
        (workspace / "kept.txt").write_text("kept")
        return AgentCall(
            run="demo-1", address="work", turn=1, prompt=PROMPT, workspace=str(workspace), options=dict(options)
        )

    def test_its_name_can_be_written_in_a_workflow(self, agent: Agent) -> None:
        assert re.fullmatch(r"[a-z][a-z0-9_-]*", agent.name)

    def test_its_abilities_name_at_least_one_access_and_stay_the_same(self, agent: Agent) -> None:
        assert agent.can.access
        assert agent.can.access <= {"read", "edit", "full"}
        assert agent.can == agent.can

    def test_its_variables_are_names_of_a_vendor_and_never_all_there_are(self, agent: Agent) -> None:
        assert all(re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{2,}\*?", name) for name in agent.variables), agent.variables
        assert not {"PATH", "HOME", "USER", "SHELL"} & set(agent.variables)

    def test_launching_writes_into_its_folder_alone(self, agent: Agent, call: AgentCall, tmp_path: Path) -> None:
        folder = tmp_path / "call"
        folder.mkdir()
        before = _files(tmp_path, folder)
        agent.launch(_grant_access(agent, call), str(folder))
        assert _files(tmp_path, folder) == before

    def test_its_prompt_is_seen_in_no_list_of_processes(self, agent: Agent, call: AgentCall, tmp_path: Path) -> None:
        launch = agent.launch(_grant_access(agent, call), str(tmp_path / "call"))
        assert launch.argv
        assert not any("\0" in word for word in (*launch.argv, *(text for pair in launch.env for text in pair)))
        if not self.prompt_as_argument:
            assert not any(SHOWN in word for word in launch.argv)
            assert not any(SHOWN in value for _, value in launch.env)

    def test_its_folder_need_not_exist(self, agent: Agent, call: AgentCall, tmp_path: Path) -> None:
        agent.launch(_grant_access(agent, call), str(tmp_path / "new" / "call"))

    def test_it_can_be_launched_again_in_the_folder_of_a_call_that_was_lost(
        self, agent: Agent, call: AgentCall, tmp_path: Path
    ) -> None:
        allowed = _grant_access(agent, call)
        first = agent.launch(allowed, str(tmp_path / "call"))
        again = agent.launch(allowed, str(tmp_path / "call"))
        assert (again.argv[0], again.stdin) == (first.argv[0], first.stdin)

    def test_what_may_only_read_is_started_otherwise(self, agent: Agent, call: AgentCall, tmp_path: Path) -> None:
        levels: tuple[Access, ...] = () if self.replays else ("read", "edit", "full")
        started = {
            level: _record_launch(agent, replace(call, access=level), tmp_path / level)
            for level in levels
            if level in agent.can.access
        }
        reading = started.pop("read", None)
        assert reading not in started.values()

    def test_an_agent_that_takes_words_meanwhile_is_told_them_in_whole_lines(
        self, agent: Agent, call: AgentCall, tmp_path: Path
    ) -> None:
        if not agent.can.follow_up:
            return
        assert isinstance(agent, AcceptsMessages)
        listening = agent.launch(replace(_grant_access(agent, call), listens=True), str(tmp_path / "call"))
        assert listening.until
        for told in (listening.stdin, agent.encode_message(PROMPT, "5e551011-0000-4000-8000-000000000001")):
            assert told.endswith(b"\n")
            assert told.count(b"\n") == 1
        assert not any(SHOWN in word for word in listening.argv)

    def test_what_it_cannot_be_held_to_is_refused(self, agent: Agent, call: AgentCall) -> None:
        wanted = replace(call, disallowed_tools=("Bash",), single_turn=True, session="abc", model="big")
        said = unmet(agent.name, agent.can, wanted)
        lacking = (agent.can.tools, agent.can.single_turn, agent.can.resume, agent.can.model).count(False)
        refused_access = 0 if call.access in agent.can.access else 1
        assert len(said) == lacking + refused_access
        assert all(text.startswith(f"{agent.name}: ") for text in said)


def _grant_access(agent: Agent, call: AgentCall) -> AgentCall:
    """Return the call with an access level that the agent supports."""
    order: tuple[Access, ...] = (call.access, "read", "edit", "full")
    return replace(call, access=next(level for level in order if level in agent.can.access))


def _record_launch(agent: Agent, call: AgentCall, folder: Path) -> tuple[object, ...]:
    """Describe how a call is started: its arguments, its variables and the files written for it."""
    launch = agent.launch(call, str(folder))
    told = [text.replace(str(folder), "FOLDER") for text in (*launch.argv, *(f"{n}={v}" for n, v in launch.env))]
    written = {path.name: path.read_bytes() for path in sorted(folder.glob("*")) if path.is_file()}
    return told, written


def _files(root: Path, without: Path) -> dict[str, bytes]:
    paths = (path for path in root.rglob("*") if without not in path.parents and path != without)
    return {str(path): path.read_bytes() for path in paths if path.is_file()}
