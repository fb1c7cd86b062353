"""Who did something has one typed form, which no name can forge and which people read as plain words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.model.actors import (
    WORDS,
    actor_words,
    lift_words,
    make_agent,
    make_connected,
    make_person,
    parse_actor,
    type_actor,
)


@pytest.mark.parametrize(
    ("text", "words", "decides"),
    [
        ("person:ann", "ann", True),
        ("agent:fix-1/reproduce", "the agent of fix-1, step reproduce", False),
        ("agent:fix-1.7/build[a]/make", "the agent of fix-1.7, step build[a]/make", False),
        ("agent:fix-1", "the agent of fix-1", False),
        ("connected:claude", "connected agent claude", False),
        ("github:ann", "ann on GitHub", True),
        ("linear:a1b2", "a1b2 on Linear", True),
        ("token:ci", "the holder of token ci", True),
    ],
)
def test_the_typed_form_is_read_and_written(text: str, words: str, decides: bool) -> None:
    actor = parse_actor(text)
    assert (str(actor), actor.words, actor_words(text), actor.decides) == (text, words, words, decides)


@pytest.mark.parametrize(
    "text",
    [
        *("", "ann", "root:ann", "Person:ann", "person:", "person: ", "agent:", "agent:/step", "connected:"),
        *(
            "person:a:b",
            "person:agent:x/y",
            "person:a/b",
            "connected:a/b",
            "agent:a:b/c",
            "person:a\nb",
            "agent:x/\x1b[2J",
        ),
        *("person:\u202eann", " person:ann", "person:ann ", "person:" + "x" * 300),
    ],
)
def test_everything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"does not start with one of|has no name"):
        parse_actor(text)


@given(st.text(), st.sampled_from([make_person, make_connected, make_agent]))
def test_no_name_forges_another_kind_or_reaches_a_terminal(name: str, make: type) -> None:
    actor = make(name)
    assert parse_actor(str(actor)) == actor
    assert str(actor).isprintable()
    assert str(actor).count(":") == 1


@given(st.text(min_size=1), st.text())
def test_the_address_of_a_step_stays_inside_its_actor(run: str, step: str) -> None:
    actor = make_agent(run, step)
    assert parse_actor(str(actor)) == actor
    assert actor.run == make_agent(run).name


@given(st.text())
def test_any_text_of_a_message_becomes_typed_once(text: str) -> None:
    typed = type_actor(text)
    assert type_actor(typed) == typed
    assert not text or typed.partition(":")[0] in WORDS


@given(st.text())
def test_people_are_shown_no_control_characters(text: str) -> None:
    assert actor_words(text).isprintable()


@pytest.mark.parametrize(
    ("words", "typed"),
    [
        ("", ""),
        ("root", "person:root"),
        ("agent:x/y", "person:agent_x_y"),
        ("connected agent 1f09c2aa", "connected:1f09c2aa"),
        ("a connected agent", "connected:mcp"),
        ("the agent of fix-1", "agent:fix-1"),
        ("import (ann)", "person:ann"),
        ("the configuration", ""),
        ("who set it for fix-1", ""),
        ("handrail run", ""),
    ],
)
def test_words_of_older_histories_become_typed(words: str, typed: str) -> None:
    assert lift_words(words) == typed


def test_a_run_that_stopped_its_child_was_no_person() -> None:
    assert lift_words("fix-bug-1", may_be_run=True) == ""
    assert lift_words("fix-bug-1.7", may_be_run=True) == ""
    assert lift_words("fix-r1f09c2aa1f09", may_be_run=True) == ""
    assert lift_words("ann", may_be_run=True) == "person:ann"
