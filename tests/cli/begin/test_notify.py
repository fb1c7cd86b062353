"""Who is told when a run needs a person: once for each need, by the process that drives it, and never at its cost."""

import json

import pytest

from support.cli.running import ASKING, Runs, until
from support.cli.terminals import shown_on_terminal
from support.web_hook import web_hook

pytestmark = pytest.mark.system  # takes long: many processes of its own

BLOCKS = "name: NAME\nsteps:\n  - {name: try, command: 'exit 1', on_fail: block}\n"
ESCALATES = """\
name: NAME
steps:
  - {name: try, command: 'exit 1', on_fail: escalate, escalate_to: "#dev"}
"""
LOOPS = """\
name: NAME
steps:
  - name: again
    type: loop
    until: 1 == 2
    max_iterations: 1
    on_max: escalate
    escalate_to: "#dev"
    steps: [{name: try, command: 'true'}]
"""


def configure(runs: Runs, text: str) -> None:
    runs.shop.home.mkdir(exist_ok=True)
    (runs.shop.home / "config.toml").write_text(text)


def told(runs: Runs) -> list[str]:
    file = runs.shop.home.parent / "told"
    return file.read_text().splitlines() if file.exists() else []


def tell_by_command(runs: Runs, table: str = "notify") -> None:
    file = runs.shop.home.parent / "told"
    command = f'echo "$HANDRAIL_NOTIFY_NEED $HANDRAIL_NOTIFY_RUN $HANDRAIL_NOTIFY_STEP" >> {file}'
    configure(runs, f"[{table}]\ncommand = '''{command}'''\n")


def notes(runs: Runs, run: str) -> list[dict[str, object]]:
    events = [json.loads(line) for line in runs.call("logs", run, "--json").stdout.splitlines()]
    return [each for each in events if each["kind"] == "person_notified"]


@pytest.mark.parametrize(("text", "line"), [(ASKING, "approval one-1 ok"), (BLOCKS, "blocked one-1 try")])
def test_a_run_that_needs_a_person_tells_them_once(runs: Runs, text: str, line: str) -> None:
    tell_by_command(runs)
    runs.add("one", text)
    runs.call("run", "one")
    assert told(runs) == [line]
    assert len(notes(runs, "one-1")) == 1
    assert "the user was notified" in runs.text("logs", "one-1")


def test_driving_again_tells_nobody_again_and_a_new_need_tells_again(runs: Runs) -> None:
    tell_by_command(runs)
    runs.add("one", ASKING)
    runs.call("run", "one")
    runs.call("tell", "one-1", "hurry")
    assert told(runs) == ["approval one-1 ok"]
    runs.call("revise", "one-1", "-m", "shorter")
    assert told(runs) == ["approval one-1 ok", "approval one-1 ok"]
    assert len({str(each["need"]) for each in notes(runs, "one-1")}) == 2


def test_the_background_driver_tells(runs: Runs) -> None:
    tell_by_command(runs)
    runs.add("one", ASKING)
    runs.call("run", "one", "--detach")
    until(lambda: told(runs) == ["approval one-1 ok"] and len(notes(runs, "one-1")) == 1)


def test_a_person_who_watches_is_not_told(runs: Runs) -> None:
    tell_by_command(runs)
    runs.add("one", ASKING)
    shown_on_terminal(runs, "run", "one", typed=b"a\n")
    assert told(runs) == []


def test_without_a_setting_nothing_is_told_or_recorded(runs: Runs) -> None:
    runs.add("one", ASKING)
    runs.call("run", "one")
    assert notes(runs, "one-1") == []


def test_what_does_not_work_is_recorded_and_fails_nothing(runs: Runs) -> None:
    configure(runs, '[notify]\ncommand = "exit 7"\n')
    runs.add("one", ASKING)
    assert "one-1 needs you" in runs.call("run", "one").output
    assert [each.get("problem", "") for each in notes(runs, "one-1")] == ["", "command: ended with exit code 7"]
    assert "the user could not be notified: command: ended with exit code 7" in runs.text("logs", "one-1")
    runs.text("approve", "one-1")


@pytest.mark.parametrize("text", [ESCALATES, LOOPS], ids=["on_fail", "on_max"])
def test_an_escalation_tells_its_channel_also_where_a_person_watches(runs: Runs, text: str) -> None:
    with web_hook() as hook:
        configure(runs, f'[notify.channels."#dev"]\nwebhook = "{hook.address}"\n')
        runs.add("one", text)
        shown_on_terminal(runs, "run", "one", typed=b"\n")
        assert [(each["run"], each["need"]) for each in hook.came] == [("one-1", "blocked")]
    assert notes(runs, "one-1")[0]["to"] == "#dev"


@pytest.mark.parametrize("config", ["", "[notify]\ndesktop = true\n", '[notify.channels."#dev"]\n'])
def test_an_unknown_channel_is_refused_before_the_run_and_by_validate(runs: Runs, config: str) -> None:
    configure(runs, config)
    runs.shop.workflow("one", ESCALATES)
    runs.call("trust", "one", "--yes")
    result = runs.call("run", "one")
    assert (result.exit_code, "escalates to '#dev'" in result.output) == (2, True), result.output
    assert runs.json("status")["runs"] == []
    checked = runs.call("validate", "one")
    assert checked.exit_code == 4
    assert "[unknown-channel]" in checked.output


def test_a_near_channel_is_suggested(runs: Runs) -> None:
    configure(runs, '[notify.channels."#devs"]\ncommand = "true"\n')
    runs.shop.workflow("one", ESCALATES)
    assert "did you mean '#devs'" in runs.call("validate", "one").output.lower()


def test_a_repository_tells_nobody_and_is_refused(runs: Runs) -> None:
    file = runs.shop.home.parent / "told"
    runs.shop.write(".handrail/config.toml", f"[notify]\ncommand = 'touch {file}'\n")
    runs.add("one", ASKING)
    result = runs.call("run", "one")
    assert not file.exists()
    assert notes(runs, "one-1") == []
    assert "[notify] in .handrail/config.toml is not used" in result.output
    assert "[notify] in a repository's configuration is refused" in runs.call("validate").output


def test_notify_test_sends_one_and_says_by_which_way(runs: Runs) -> None:
    tell_by_command(runs)
    assert runs.text("notify", "test") == "sent by command\n"
    assert told(runs) == ["test test-1 "]


def test_notify_test_tells_what_does_not_work(runs: Runs) -> None:
    with web_hook(404) as hook:
        configure(runs, f'[notify.channels."#dev"]\nwebhook = "{hook.address}"\n')
        assert runs.text("notify", "test", "#dev", code=1) == "failed: webhook: 127.0.0.1 answered 404\n"


@pytest.mark.parametrize("args", [(), ("#dev",)])
def test_notify_test_says_what_to_write_where_nothing_is_set(runs: Runs, args: tuple[str, ...]) -> None:
    result = runs.call("notify", "test", *args)
    assert result.exit_code == 2
    assert "config.toml" in result.output
    assert ("notify.channels" in result.output) == bool(args)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[notify]\nwebhook = "http://example.org/x"\n', "https://"),
        ('[notify]\nwebhook = "file:///etc/passwd"\n', "https://"),
        ("[notify]\ndesktop = 1\n", "true or false"),
        ("[notify]\ncommand = 3\n", "must be a text"),
        ("[notify]\ncomand = 'x'\n", "command"),
        ("[notify]\nchannels = 3\n", "table of channels"),
        ('[notify.channels]\n"#dev" = 3\n', "must be a table"),
    ],
)
def test_a_setting_that_cannot_be_understood_is_told(runs: Runs, text: str, said: str) -> None:
    configure(runs, text)
    result = runs.call("notify", "test")
    assert result.exit_code == 2
    assert said in result.output
