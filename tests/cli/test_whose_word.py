"""Every command is decided about: a person's, an agent's for its own children, or anybody's."""

import pytest

from handrail.cli import lazy_group
from handrail.cli.command_table import (
    ACTS_WITH,
    ALIASES,
    ANY_COMMANDS,
    CHILD_COMMANDS,
    HIDDEN,
    ISSUES,
    ONLY_LOOKS,
    PERSON_COMMANDS,
    RUNS,
    WORKFLOWS,
)
from handrail.cli.main import cli
from handrail.cli.whose_word import require_person
from support.cli.shop import Shop

INNER = {f"issues {name}" for name in ISSUES}
COMMANDS = {*RUNS, *WORKFLOWS, *HIDDEN, *INNER}


def test_every_command_stands_in_exactly_one_table_with_a_reason() -> None:
    tables = [*PERSON_COMMANDS, *CHILD_COMMANDS, *ANY_COMMANDS]
    assert sorted(tables) == sorted(COMMANDS)
    assert all({**PERSON_COMMANDS, **CHILD_COMMANDS, **ANY_COMMANDS}.values())


def test_options_that_decide_are_options_of_their_commands() -> None:
    for name, option in {**ONLY_LOOKS, **ACTS_WITH}.items():
        command = cli.get_command(cli.make_context("handrail", []), name)
        assert command is not None
        assert option in {each.name for each in command.params}
        assert name in PERSON_COMMANDS


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_what_is_not_anyones_is_looked_at_before_it_is_called(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    group = cli.commands["issues"] if name in INNER else cli.commands["workflow"] if name in WORKFLOWS else cli
    assert isinstance(group, lazy_group.CommandGroup)
    command = group.get_command(cli.make_context("handrail", []), name.removeprefix("issues "))
    assert command is not None
    assert command.callback is not None

    def refuse(command: str, _: object) -> None:
        asked.append(command)
        raise PermissionError

    monkeypatch.setattr("handrail.cli.whose_word.require_person", refuse)
    if name not in ANY_COMMANDS:
        with pytest.raises(PermissionError):
            command.callback()
    assert asked == ([] if name in ANY_COMMANDS else [name])


def test_other_names_of_commands_are_those_of_anyone() -> None:
    assert set(ALIASES.values()) <= set(ANY_COMMANDS)


def test_a_person_is_let_through(shop: Shop) -> None:
    assert shop
    for name in (*PERSON_COMMANDS, *CHILD_COMMANDS):
        require_person(name, {"run": "nope-1"})
