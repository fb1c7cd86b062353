"""How a person is told: by a command, on the desktop, by a web address."""

import socket
from pathlib import Path

import pytest

from handrail.ports.notices import Notice, NoticeTarget
from handrail.processes import send_notice as module
from handrail.processes.send_notice import send_notice
from support.web_hook import web_hook

EVIL = "$(touch made); `touch made` \"'; touch made #"


def notice(message: str = "Ship it?") -> Notice:
    return Notice(
        run="ask-1", workflow="ask", need="approval", step="ok", message=message, next_step="handrail approve ask-1"
    )


def test_a_command_gets_what_it_is_told_in_its_environment_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command = 'printf "%s|" "$HANDRAIL_NOTIFY_RUN" "$HANDRAIL_NOTIFY_NEED" "$HANDRAIL_NOTIFY_MESSAGE" > told'
    assert send_notice(NoticeTarget(command=command), notice(EVIL)) == ()
    assert (tmp_path / "told").read_text() == f"ask-1|approval|{EVIL}|"
    assert not (tmp_path / "made").exists()


def test_a_command_sees_no_secret_of_this_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_TOKEN", "s3cr3t-s3cr3t")
    assert send_notice(NoticeTarget(command=f"env > {tmp_path}/seen"), notice()) == ()
    assert "s3cr3t-s3cr3t" not in (tmp_path / "seen").read_text()


def test_a_command_that_fails_is_told() -> None:
    assert send_notice(NoticeTarget(command="exit 3"), notice()) == ("command: ended with exit code 3",)


def test_a_command_that_does_not_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "DEADLINE", 0.2)
    (problem,) = send_notice(NoticeTarget(command="sleep 600 & sleep 600"), notice())
    assert problem.startswith("command: killed because it took longer than")


def test_a_web_address_gets_the_notice_as_json() -> None:
    with web_hook() as hook:
        assert send_notice(NoticeTarget(webhook=hook.address), notice()) == ()
    assert hook.came == [
        {**notice().values, "path": "/hook", "type": "application/json"},
    ]
    assert hook.came[0]["text"] == "ask-1 needs you: approval: Ship it? (next: handrail approve ask-1)"


def test_a_server_in_trouble_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FIRST_PAUSE", 0.01)
    with web_hook(503, 500, 200) as hook:
        assert send_notice(NoticeTarget(webhook=hook.address), notice()) == ()
        assert len(hook.came) == 3


@pytest.mark.parametrize("status", [400, 404, 302])
def test_a_server_that_refuses_is_asked_once_and_followed_nowhere(status: int) -> None:
    with web_hook(status) as hook:
        assert send_notice(NoticeTarget(webhook=hook.address), notice()) == (f"webhook: 127.0.0.1 answered {status}",)
        assert [each["path"] for each in hook.came] == ["/hook"]


def test_a_server_that_stays_in_trouble_is_given_up_at_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(module, "DEADLINE", 0.3)
    with web_hook(500) as hook:
        assert send_notice(NoticeTarget(webhook=hook.address), notice()) == ("webhook: 127.0.0.1 answered 500",)
        assert len(hook.came) > 1


def test_the_secret_part_of_an_address_is_never_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "DEADLINE", 0.3)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}/services/T0/hidden"
        (problem,) = send_notice(NoticeTarget(webhook=address), notice())
    assert problem.startswith("webhook: 127.0.0.1 cannot be reached")
    assert "hidden" not in problem


def test_one_way_that_fails_keeps_no_other_from_telling(tmp_path: Path) -> None:
    with web_hook() as hook:
        problems = send_notice(NoticeTarget(command="exit 1", webhook=hook.address), notice())
        assert (problems, len(hook.came)) == (("command: ended with exit code 1",), 1)


def test_the_desktop_gets_it_as_arguments_of_its_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "notify-send"
    program.write_text(f'#!/bin/sh\nprintf "%s|" "$@" > {tmp_path}/shown\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert send_notice(NoticeTarget(desktop=True), notice(EVIL)) == ()
    assert (tmp_path / "shown").read_text() == f"--app-name=handrail|--|ask-1 needs you: approval|{EVIL}|"


def test_a_machine_without_a_desktop_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert send_notice(NoticeTarget(desktop=True), notice()) == (
        "desktop: neither notify-send nor osascript is installed",
    )
