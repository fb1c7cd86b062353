"""The keys of config.toml: of a repository, and of the user."""

from pathlib import Path
from typing import Any

import pytest

from handrail.agents.registry import BuiltInCatalog
from handrail.errors import HandrailError
from handrail.model.diagnostics import Report
from handrail.operations.delivery.clean import retention_here
from handrail.operations.issue_runs.assign_agent import StatusRules
from handrail.operations.issue_runs.issue_settings import IssueSetting, configured_issues
from handrail.operations.issue_runs.start_on_issue import choose_workflow, ready_places
from handrail.operations.runs.prepare import RunOptions, prepare
from handrail.ports.agents import Agent, AgentCall, Configurable
from handrail.ports.notices import NoticeTarget
from handrail.ports.processes import Ended
from handrail.sources.config.agents_file import definitions_in
from handrail.sources.config.config import config_in
from handrail.sources.config.toml_file import parse_toml
from handrail.testing.memory_environments import MemoryEnvironment
from handrail.trackers.memory.catalog import MemoryTrackers
from handrail.wiring.trackers import Trackers
from support.differences.performers import HANG, Play
from support.differences.proofs import Benches, Json, flow, guided, proves, step
from support.issues.desk import STUCK, WELL, make_room

AGENT: Json = {"name": "work", "prompt": "Do the work."}
GATE: Json = {"name": "checks", "type": "gate", "checks": "project"}
LAST: Json = {"name": "last", "command": "echo last"}


@proves("config: checks.NAME")
def test_checks_are_what_a_gate_of_the_project_runs(both: Benches) -> None:
    assert both(flow(GATE), config='[checks]\ntest = "make test"\n').commands == ["make test"]
    two = '[checks]\ntest = "true"\nlint = "make lint"\n'
    assert sorted(both(flow(GATE), config=two).commands) == ["make lint", "true"]


@proves("config: checks.NAME.command", "config: checks.NAME.failed", "config: checks.NAME.report")
@proves("config: checks.NAME.failed_when")
@pytest.mark.parametrize(
    ("check", "proven"),
    [
        ('command = "exit 1 #"\nfailed = [1]\n', True),
        ('command = "exit 2 #"\nfailed = [1]\n', False),
        ('command = "exit 2 #"\nfailed = [2]\n', True),
        ('command = "echo FAIL: it; exit 1 #"\nfailed_when = "^FAIL"\n', True),
        ('command = "echo broken; exit 1 #"\nfailed_when = "^FAIL"\n', False),
        ('command = "exit 1 #"\nreport = "other.xml"\n', False),
    ],
)
def test_a_check_of_one_file_says_what_a_failing_test_is(run: Benches, check: str, *, proven: bool) -> None:
    step = {**AGENT, "done_when": [{"fails": {"check": "test_one", "file": "a.py"}}]}
    found = run(flow(step, LAST), config=f"[checks.test_one]\n{check}", files={"a.py": ""})
    assert any("exit" in each for each in found.commands)
    assert ("echo last" in found.commands) == proven


@proves("config: project.sources", "config: project.default_branch")
def test_sources_and_branch_of_the_project_are_names_in_workflows(both: Benches) -> None:
    says = {"name": "say", "command": "echo ${base}"}
    config = '[project]\nsources = ["lib/**"]\ndefault_branch = "stable"\n'
    found = both(flow(says, input={"base": "string = ${project.default_branch}"}), config=config)
    assert found.environments[-1]["HR_1"] == "stable"
    asks = {"name": "ask", "prompt": "Leave {{ project.sources | join(' ') }} alone."}
    assert "lib/**" in both(flow(asks), config=config).prompt


@proves("config: project.outdated", "config: project.update")
def test_the_commands_of_the_project_are_executed(run: Benches) -> None:
    config = '[project]\noutdated = "echo clock"\nupdate = "echo updating"\n'
    steps = [{"name": name, "command": f"${{project.{name}}}"} for name in ("outdated", "update")]
    assert run(flow(*steps), config=config).commands == ["echo clock", "echo updating"]
    with pytest.raises(HandrailError, match="outdated"):
        run(flow(*steps))


@proves("config: workflows.folders")
def test_further_folders_hold_workflows(run: Benches) -> None:
    text = flow({"name": "a", "command": "echo other"}, description="Says other.").replace("case", "other")
    files = {"tools/workflows/other.yaml": text}

    def listed(config: str) -> str:
        bench = run.bench(files=files, config=config)
        return bench.call("list_workflows", workspacePath=str(bench.work)).text

    assert "Says other." not in listed("")
    assert "Says other." in listed('[workflows]\nfolders = ["tools/workflows"]\n')


@proves("config: agent.default", "config: agent.fallback")
def test_the_default_agent_is_called_and_the_fallback_where_it_is_missing(run: Benches) -> None:
    def called(config: str, step: Json = AGENT, here: tuple[str, ...] = ("claude", "codex")) -> list[str]:
        return run(flow(step), config=config, agent="", here=here).bench.performer.agents

    assert called('[agent]\ndefault = "claude"\n') == ["claude"]
    assert called('[agent]\ndefault = "codex"\n') == ["codex"]
    overloaded = [Play(status="overloaded")] * 8

    def tried(more: str) -> set[str]:
        config = f'[agent]\ndefault = "claude"\n{more}'
        return set(run(flow(AGENT), plays={"work": overloaded}, agent="", config=config).bench.performer.agents)

    assert tried("") == {"claude"}
    assert tried('fallback = ["codex"]\n') == {"claude", "codex"}


@proves("config: agent.pass_env")
def test_pass_env_hands_on_variables(run: Benches) -> None:
    def seen(config: str) -> dict[str, str]:
        secret = MemoryEnvironment(secrets={"TOKEN": "s3cret-value"})
        return run(flow(LAST), config=config, environment=secret, git=True).environments[-1]

    assert "TOKEN" not in seen("")
    assert seen('[agent]\npass_env = ["TOKEN"]\n')["TOKEN"] == "s3cret-value"


@proves("config: agent.limits")
def test_limits_decide_what_a_run_does_at_a_usage_limit(run: Benches) -> None:
    limited = {"work": [Play(status="quota"), Play()]}

    def status(word: str) -> str:
        config = f'[agent]\ndefault = "claude"\nlimits = "{word}"\n'
        return run(flow(AGENT), config=config, agent="", plays=dict(limited)).status

    assert (status("shared"), status("ask")) == ("succeeded", "blocked")


@proves("config: agent.idle_timeout", "config: agent.sandbox")
def test_idle_timeout_and_sandbox_hold_for_every_agent(run: Benches) -> None:
    usual = run(flow(AGENT), config='[agent]\ndefault = "claude"\n')
    confined = run(flow(AGENT), config='[agent]\ndefault = "claude"\nsandbox = "bwrap"\nidle_timeout = 7\n')
    assert (len(usual.bench.sandbox.confined), len(confined.bench.sandbox.confined)) == (0, 1)
    begun = [event for event in confined.events if event.kind == "step_began"]
    assert getattr(begun[0], "spec")["idle_timeout"] == 7  # noqa: B009 (only some events have one)


@proves("config: worktrees.setup", "config: worktrees.branch", "config: worktrees.copy", "config: worktrees.base")
def test_worktrees_are_made_as_the_repository_says(run: Benches) -> None:
    files = {".gitignore": ".env\n", ".env": "KEY=1\n"}
    plain = run(flow(LAST), git=True, files=files)
    config = '[worktrees]\nsetup = ["echo ready > ready.txt"]\ncopy = [".env"]\nbranch = "robot/{run}"\n'
    made = run(flow(LAST), git=True, files=files, config=config)
    assert (plain.file("ready.txt"), plain.file(".env")) == ("", "")
    assert (made.file("ready.txt"), made.file(".env")) == ("ready\n", "KEY=1\n")
    assert ("robot/case-1" in plain.told, "robot/case-1" in made.told) == (False, True)
    bench = run.bench(git=True, config='[worktrees]\nbase = "stable"\n')
    bench.call_git("branch", "stable")
    assert "stable" in bench.run(flow(AGENT)).prompt


@proves("config: worktrees.timeout")
def test_a_setup_that_takes_too_long_is_ended(run: Benches) -> None:
    found = run(flow(LAST), git=True, config=f'[worktrees]\nsetup = ["{HANG}"]\ntimeout = 1\n')
    assert found.commands == [HANG]
    assert (found.status, "could not be set up" in found.told) == ("blocked", True)


@proves("config: worktrees.teardown", "config: worktrees.teardown_timeout")
def test_teardown_runs_before_a_worktree_is_removed(run: Benches) -> None:
    def written(more: str) -> str:
        found = run(flow(LAST), git=True, config=f"[worktrees]\n{more}")
        tree = found.state.tree
        assert tree is not None
        found.bench.system.workspaces.discard(tree, found.run)
        note = found.bench.folder / "gone.txt"
        return note.read_text("utf-8") if note.exists() else ""

    down = f"echo down > {run.folder}/bench-2/gone.txt"
    assert written("") == ""
    assert written(f'teardown = ["{down}"]\n') == "down\n"
    slow = f"sleep 30; echo down > {run.folder}/bench-3/gone.txt"
    assert written(f'teardown = ["{slow}"]\nteardown_timeout = 1\n') == ""


@proves("config: cleanup.keep_snapshots")
def test_snapshots_are_kept_for_as_many_days_as_it_says(run: Benches) -> None:
    def kept(more: str) -> int:
        bench = run.bench(config=more)
        return retention_here(bench.place.folders, bench.now).days(str(bench.work))

    assert (kept(""), kept("[cleanup]\nkeep_snapshots = 3\n")) == (30, 3)


@proves("config: cleanup.keep_blame")
def test_snapshots_of_steps_are_kept_for_blame_for_as_many_days_as_it_says(run: Benches) -> None:
    def kept(more: str) -> int:
        bench = run.bench(config=more)
        return retention_here(bench.place.folders, bench.now).blame_days(str(bench.work))

    assert (kept(""), kept("[cleanup]\nkeep_blame = 3\n")) == (365, 3)


@proves("config: pull.autonomy", "config: pull.risk")
def test_autonomy_and_risk_of_connected_agents_are_what_their_runs_begin_with(run: Benches) -> None:
    connected = Benches(run.folder / "connected", "connected")
    text = guided(step())
    plain = connected(text).answers[0].data
    config = '[pull]\nautonomy = "full_auto_never_stop"\nrisk = "aggressive"\n'
    set_so = connected(text, config=config).answers[0].data
    assert "full_auto_never_stop" not in str(plain)
    assert ("full_auto_never_stop" in str(set_so), "aggressive" in str(set_so)) == (True, True)


@proves("config: trust.repositories")
def test_a_trusted_repository_runs_its_own_workflows(run: Benches) -> None:
    bench = run.bench()
    folder = bench.work / ".handrail" / "workflows"
    folder.mkdir(parents=True)
    (folder / "own.yaml").write_text(flow(LAST).replace("case", "own"), "utf-8")
    wanted = RunOptions("own", folder=str(bench.work))
    assert prepare(bench.machine, bench.place, wanted).request.pinned.plan.name == "own"
    (bench.home / "config.toml").write_text("", "utf-8")
    with pytest.raises(HandrailError, match="trust"):
        prepare(bench.machine, bench.place, wanted)


@proves("config: notify.desktop", "config: notify.command", "config: notify.webhook")
@pytest.mark.parametrize(
    ("way", "target"),
    [
        ("desktop = true", NoticeTarget(desktop=True)),
        ('command = "say it"', NoticeTarget(command="say it")),
        ('webhook = "https://chat.example.org/x"', NoticeTarget(webhook="https://chat.example.org/x")),
    ],
)
def test_a_run_that_needs_a_person_tells_them_as_they_want(run: Benches, way: str, target: NoticeTarget) -> None:
    ask = {"name": "ok", "type": "approval", "message": "Is the fence blue?"}
    assert run(flow(ask)).bench.notices == []
    told = run(flow(ask), user_config=f"[notify]\n{way}\n").bench.notices
    assert [(each, notice.message) for each, notice in told] == [(target, "Is the fence blue?")]


@proves("config: notify.channels", "every step.escalate_to", "every step.on_fail")
def test_a_step_that_escalates_tells_its_channel(both: Benches) -> None:
    red: Json = {"name": "work", "command": "exit 1"}
    config = '[notify.channels."#dev"]\ncommand = "tell dev"\n[notify.channels."#ops"]\ncommand = "tell ops"\n'

    def told(**more: str) -> list[str]:
        return [target.command for target, _ in both(flow({**red, **more}), user_config=config).bench.notices]

    assert told(on_fail="block") == []
    assert told(on_fail="escalate", escalate_to="#dev") == ["tell dev"]
    assert told(on_fail="escalate", escalate_to="#ops") == ["tell ops"]


def described(text: str, folder: Path, **call: Any) -> tuple[str, Agent]:
    """Give what is executed for a call of an agent that is described so, and the agent."""
    file = parse_toml(f"[agents.mine]\n{text}".encode(), "config.toml", Report())
    report = Report()
    agent = BuiltInCatalog().define(definitions_in(file, report)).find("mine")
    asked: Json = {
        "run": "r",
        "address": "a",
        "turn": 1,
        "prompt": "Do it.",
        "workspace": str(folder),
        "access": "full",
    }
    launch = agent.launch(AgentCall(**{**asked, **call}), str(folder))
    return f"{launch.argv} {launch.env} {launch.stdin}", agent


SH = 'command = ["sh", "-c", "true", "{options}"]\n'


@proves("config: agents.NAME.command", "config: agents.NAME.env", "config: agents.NAME.resume")
@proves("config: agents.NAME.model", "config: agents.NAME.system_prompt", "config: agents.NAME.access")
@pytest.mark.parametrize(
    ("more", "call", "told"),
    [
        ('env = {QUIET = "very"}\n', {}, "very"),
        ('resume = ["--go-on", "{session}"]\n', {"session": "s1"}, "--go-on"),
        ('model = ["--with", "{model}"]\n', {"model": "big"}, "--with"),
        ('system_prompt = ["--be", "{system_prompt}"]\n', {"system_prompt": "kind"}, "--be"),
        ('access = {full = ["--all"]}\n', {}, "--all"),
    ],
)
def test_a_described_agent_is_started_as_its_table_says(tmp_path: Path, more: str, call: Json, told: str) -> None:
    assert told not in described(SH, tmp_path)[0]
    assert told in described(SH + more, tmp_path, **call)[0]
    assert "other-word" in described('command = ["sh", "other-word"]\n', tmp_path)[0]


@proves("config: agents.NAME.output", "config: agents.NAME.answer", "config: agents.NAME.final")
@proves("config: agents.NAME.exit_codes")
def test_the_answer_of_a_described_agent_is_read_as_its_table_says(tmp_path: Path) -> None:
    def read(more: str, code: int = 0) -> tuple[str, str]:
        lines = described(SH + more, tmp_path)[1].lines()
        for line in (b'{"result": "blue", "kind": "end"}', b'{"result": "late", "kind": "more"}')[
            : 2 if "final" in more else 1
        ]:
            lines.feed(line)
        outcome = lines.outcome(Ended(code))
        return outcome.status, outcome.text

    as_lines = 'output = "jsonl"\nanswer = {text = "$.result"}\n'
    assert "result" in read("")[1]
    assert read('output = "json"\nanswer = {text = "$.result"}\n') == ("ok", "blue")
    assert read('output = "json"\nanswer = {text = "$.kind"}\n') == ("ok", "end")
    assert read(as_lines + 'final = {"$.kind" = "end"}\n')[0] == "ok"
    assert read(as_lines + 'final = {"$.kind" = "never"}\n')[0] != "ok"
    assert read("", 3)[0] != read('exit_codes = {3 = "rate_limited"}\n', 3)[0] == "rate_limited"


@proves("config: agents.NAME.variables", "config: agents.NAME.mcp", "config: agents.NAME.protocol")
@proves("config: agents.NAME.project_files", "config: agents.NAME.without_project_files")
def test_what_a_described_agent_gets_and_can_follows_from_its_table(tmp_path: Path) -> None:
    plain = described(SH, tmp_path)[1]
    assert (plain.variables, plain.can.mcp) == ((), False)
    assert described(SH + 'variables = ["MINE_*"]\n', tmp_path)[1].variables == ("MINE_*",)
    assert described(SH + "mcp = true\n", tmp_path)[1].can.mcp
    talks = described('command = ["sh"]\nprotocol = "acp"\n', tmp_path)
    assert talks[0] != described('command = ["sh"]\n', tmp_path)[0]
    files = described(SH + 'project_files = [".mine.toml"]\nwithout_project_files = ["--bare"]\n', tmp_path)[1]
    assert isinstance(files, Configurable)
    assert ".mine.toml" in str(files.project_files("full"))
    assert (plain.can.without_project_files, files.can.without_project_files) == (False, True)


@proves("config: agents.NAME.program", "config: agents.NAME.install")
def test_program_and_install_say_where_an_agent_is_and_how_it_gets_there(tmp_path: Path) -> None:
    program = tmp_path / "my-claude"
    program.touch(mode=0o755)
    file = parse_toml(f'[agents.claude]\nprogram = "{program}"\n'.encode(), "config.toml", Report())
    agent = BuiltInCatalog().define(definitions_in(file, Report())).find("claude")
    call = AgentCall(run="r", address="a", turn=1, prompt="Do it.", workspace=str(tmp_path))
    assert str(program) in str(agent.launch(call, str(tmp_path)).argv)
    missing = 'command = ["no-such-program-here"]\n'
    for more, told in (("", "get-it"), ('install = "get-it"\n', "")):
        with pytest.raises(HandrailError) as refused:
            described(missing + more, tmp_path)
        assert ("get-it" in f"{refused.value.message} {refused.value.next_step}") == (not told)


@proves("config: budget")
def test_a_configured_budget_holds_for_every_run(run: Benches) -> None:
    steps = (AGENT, {"name": "more", "prompt": "Do more."})
    costly = {"work": Play(cost=2.0, tokens=500, seconds=120)}

    def called(limit: str, **head: Json) -> list[str]:
        return run(flow(*steps, **head), plays=dict(costly), config=f"[budget]\n{limit}\n").addresses

    assert called("") == ["work", "more"]
    for limit in ("usd = 1", "tokens = 400", "minutes = 1", "agent_calls = 1"):
        assert called(limit) == ["work"], limit
    assert called("usd = 1", budget={"usd": 9}) == ["work"]
    finish = run(flow(*steps, LAST), plays=dict(costly), config='[budget]\nusd = 1\nat_limit = "finish"\n')
    assert finish.commands == [LAST["command"]]


@proves("config: github.api_url", "config: github.host")
def test_github_is_where_the_user_says(run: Benches) -> None:
    def known(text: str) -> set[str]:
        bench = run.bench(user_config=text)
        trackers = Trackers(bench.place.folders, bench.system.environments, bench.system.log)
        hosts = ("github.com", "git.acme.org", "code.acme.org")
        return {host for host in hosts if trackers.repository_of(f"git@{host}:acme/shop.git") is not None}

    api = 'api_url = "https://git.acme.org/api/v3"\n'
    assert known("") == {"github.com"}
    assert known(f"[github]\n{api}") == {"github.com", "git.acme.org"}
    assert known(f'[github]\n{api}host = "code.acme.org"\n') == {"github.com", "code.acme.org"}
    report = Report()
    config_in(parse_toml(b'[github]\napi_url = "https://evil.org"\n', "config.toml", report), run.folder, report)
    assert [each.message for each in report.diagnostics] == ["[github] in a repository's configuration is refused"]


@proves("config: issues.workflow", "config: issues.tracker", "config: issues.close", "config: issues.blocked_label")
def test_issues_are_worked_on_as_the_configuration_says(run: Benches) -> None:
    def setting(config: str = "", user_config: str = "") -> IssueSetting:
        return configured_issues(run.bench(config=config, user_config=user_config).place)

    plain = setting()
    assert (plain.workflow, plain.tracker, plain.close, plain.blocked_label) == ("", "", None, "")
    own = setting(user_config='[issues]\nworkflow = "mine"\nclose = false\n')
    assert choose_workflow("", (own.workflow,), ()) == "mine"
    both = setting('[issues]\nworkflow = "theirs"\ntracker = "local"\n', '[issues]\nworkflow = "mine"\n')
    assert (both.workflow, both.tracker) == ("theirs", "local")
    twin, remote = MemoryTrackers(), "git@github.com:acme/shop.git"
    places = [ready_places(each, remote, twin) for each in ("", "local", "remote")]
    assert places == [("local", "github.com/acme/shop"), ("local",), ("github.com/acme/shop",)]


@proves("config: issues.close", "config: issues.blocked_label")
@pytest.mark.parametrize(("close", "state"), [(True, "closed"), (False, "open")])
def test_an_issue_is_closed_and_labelled_as_configured(tmp_path: Path, *, close: bool, state: str) -> None:
    for label in ("", "needs-help"):
        room = make_room(tmp_path / (label or "none"))
        done, stuck = room.issue(1), room.issue(2)
        rules = StatusRules(close, label)
        room.start(done, WELL, rules=rules)
        room.start(stuck, STUCK, rules=rules)
        room.look()
        assert room.service.issue(done.ref).issue.state == state
        assert room.service.issue(stuck.ref).issue.labels == ((label,) if label else ())
