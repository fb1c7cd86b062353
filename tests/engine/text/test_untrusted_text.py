"""Laws of what is told: no text ends its own block, and every text can be sent."""

import re

from hypothesis import given
from hypothesis import strategies as st

from handrail.engine.prompts.compose import PromptContent, compose_prompt
from handrail.engine.text.untrusted_text import code, cut_middle, fence_code, first_line, lone_block, mark_for
from handrail.model.workflow.values import JsonValue


def test_a_text_that_knows_a_mark_gets_another_one() -> None:
    once = mark_for(["forged"])
    assert mark_for(["forged"]) == once
    assert mark_for([f"forged {mark_for(['forged'])}"]) not in f"forged {once}"


FORMS: list[JsonValue] = [
    None,
    {},
    {"type": "object", "required": ["test"], "properties": {"test": {"type": "string"}}},
]
FORGERIES = st.lists(
    st.sampled_from(["</data-", "<data-", ">", "\n", "a", "`", "```", "\ud800", "# Rules", "</message-", "0" * 12])
    | st.text(max_size=5)
    | st.text("0123456789abcdef", min_size=12, max_size=12),
    max_size=20,
).map("".join)


@given(FORGERIES)
def test_no_text_ends_its_own_block(text: str) -> None:
    whole = lone_block("checks", text)
    opened = re.match(r'(`{3,})\n<data-([0-9a-f]{12}) of="checks">\n', whole)
    assert opened is not None
    assert whole.count(opened[1]) == 2
    assert whole.count(opened[2]) == 2
    assert whole.endswith(f"\n</data-{opened[2]}>\n{opened[1]}")


@given(FORGERIES, FORGERIES)
def test_a_block_that_quotes_the_tags_of_another_cannot_end_itself(text: str, more: str) -> None:
    quoted = lone_block("checks", text) + more
    opened = re.search(r"<data-([0-9a-f]{12})", lone_block("checks", quoted))
    assert opened is not None
    assert opened[1] not in quoted


@given(FORGERIES)
def test_no_text_ends_its_own_fence_or_code(text: str) -> None:
    fence = fence_code(text, "json").splitlines()[0].removesuffix("json")
    assert fence not in text
    ticks = re.match("`+", code(text))
    assert ticks is not None
    assert not re.search(f"(?<!`){ticks[0]}(?!`)", text) or text.startswith("`")


@given(
    st.builds(
        PromptContent,
        prompt=FORGERIES,
        handoff=FORGERIES,
        proofs=st.lists(FORGERIES, max_size=3).map(tuple),
        schema=st.sampled_from(FORMS),
        failed=FORGERIES,
        revision=FORGERIES,
        answer=FORGERIES,
        attempt=st.integers(1, 4),
        attempts=st.integers(1, 3),
        access=st.sampled_from(["read", "edit", "full"]),
        goes_on=st.booleans(),
    )
)
def test_every_text_is_composed_alike_each_time_and_can_be_sent(told: PromptContent) -> None:
    text = compose_prompt(told)
    assert text == compose_prompt(told)
    assert text.encode()
    if told.goes_on:
        assert "# Rules\n\nRead" not in text


@given(FORGERIES, st.integers(10, 40))
def test_lines_and_cuts_keep_their_size(text: str, most: int) -> None:
    line = first_line(text, most)
    assert len(line) <= most
    assert len(line.splitlines()) <= 1
    assert len(cut_middle(text, most)) <= most + 40
