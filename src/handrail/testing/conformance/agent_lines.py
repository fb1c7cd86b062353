"""What an agent's reader must make of lines: no input breaks it, and only the agent's own final event is a success."""
# ruff: noqa: D102, S101 -- these are tests: their names are sentences, and they assert

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from handrail.ports.agents import Agent, AgentOutcome, OutcomeStatus, progress_of
from handrail.ports.processes import Ended, Gone
from handrail.testing.conformance.agent_streams import ENDINGS, LineDamage, Stream, harmed, harms, junk, outcome

RELAXED_SETTINGS = settings(
    max_examples=max(60, settings().max_examples),
    deadline=None,
    suppress_health_check=[
        HealthCheck.function_scoped_fixture,
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.differing_executors,  # each subclass runs it for its own agent
    ],
)
MEGABYTES = 2 << 20


class LinesConformance:
    """Tests of how lines are read and which outcome they lead to."""

    tells_its_end = True
    """Whether the agent reports its end by an event; otherwise plain output and the exit status tell it."""

    @pytest.fixture
    def streams(self) -> Sequence[Stream]:
        return ()

    def test_without_a_final_event_no_exit_status_is_a_success(self, agent: Agent) -> None:
        for ended in ENDINGS:
            found = outcome(agent, (), ended)
            assert found.status != "ok", ended
            assert found.message, ended
            assert found.status == "crashed" or _can_say_more(ended) or not self.tells_its_end, ended

    @RELAXED_SETTINGS
    @given(lines=st.lists(junk(), max_size=8), ended=st.sampled_from(ENDINGS))
    def test_junk_breaks_nothing_and_is_no_success(self, agent: Agent, lines: list[bytes], ended: Ended | Gone) -> None:
        found = outcome(agent, lines, ended)
        assert sound(found)
        assert found.status == "crashed" or _can_say_more(ended) or not self.tells_its_end
        assert found.status != "ok" or not self.tells_its_end

    @RELAXED_SETTINGS
    @given(told=harms(), ended=st.sampled_from(ENDINGS))
    def test_recorded_lines_that_were_cut_or_changed_break_nothing(
        self, agent: Agent, streams: Sequence[Stream], told: list[bytes | LineDamage], ended: Ended | Gone
    ) -> None:
        lines = harmed(streams, told)
        assert sound(outcome(agent, lines, ended))
        for line in lines:
            assert one_line(agent.describe_line(line))

    @RELAXED_SETTINGS
    @given(line=junk())
    def test_a_glimpse_of_junk_is_one_short_line_or_nothing(self, agent: Agent, line: bytes) -> None:
        assert one_line(agent.describe_line(line))

    def test_a_glimpse_of_what_was_recorded_is_one_short_line_or_nothing(
        self, agent: Agent, streams: Sequence[Stream]
    ) -> None:
        for stream in streams:
            assert all(one_line(agent.describe_line(line)) for line in stream.lines), stream.name

    @pytest.mark.parametrize("begins", [b"", b"x", b'{"type":"', b'{"type":"x","text":"', b"[" * 5000, b"\xff\xfe"])
    def test_lines_of_megabytes_break_nothing(self, agent: Agent, begins: bytes) -> None:
        line = begins + b"a" * MEGABYTES
        for each in (line, line + b'"}'):
            found = outcome(agent, (each,))
            assert sound(found)
            assert found.status == "crashed" or not self.tells_its_end
            assert one_line(agent.describe_line(each))

    def test_lines_of_megabytes_between_the_recorded_ones_change_nothing(
        self, agent: Agent, streams: Sequence[Stream]
    ) -> None:
        noise = b'{"type":"x-noise","text":"' + b"a" * MEGABYTES + b'"}'
        for stream in streams if self.tells_its_end else ():
            found, quiet = outcome(agent, (noise, *stream.lines, noise)), outcome(agent, stream.lines)
            assert timeless(found) == timeless(quiet), stream.name

    def test_a_stream_succeeds_only_from_its_final_event_on(self, agent: Agent, streams: Sequence[Stream]) -> None:
        for stream in streams if self.tells_its_end else ():
            outcomes = [outcome(agent, stream.lines[:many]) for many in range(len(stream.lines) + 1)]
            # A message heard after the answer starts a new answer, so only the next final event is a success then.
            for _, answering in groupby(outcomes, lambda each: len(each.heard)):
                good = [each.status == "ok" for each in answering]
                assert good == sorted(good), stream.name
            final = next((many for many, each in enumerate(outcomes) if each.status == "ok"), None)
            if final is not None:
                last = stream.lines[final - 1]
                cut = [outcome(agent, (*stream.lines[: final - 1], last[:at])) for at in range(0, len(last), 7)]
                assert all(each.status != "ok" for each in cut), stream.name

    def test_the_same_lines_give_the_same_outcome(self, agent: Agent, streams: Sequence[Stream]) -> None:
        for stream in streams:
            for ended in (ENDINGS[0], ENDINGS[1], ENDINGS[-1]):
                found = outcome(agent, stream.lines, ended)
                assert sound(found), stream.name
                assert timeless(found) == timeless(outcome(agent, stream.lines, ended)), stream.name

    def test_what_a_call_has_taken_so_far_only_grows_and_is_no_more_than_in_the_end(
        self, agent: Agent, streams: Sequence[Stream]
    ) -> None:
        for stream in streams:
            reader, tokens = agent.lines(), [0]
            for line in stream.lines:
                reader.feed(line)
                tokens.append(progress_of(reader).usage.tokens)
            assert tokens == sorted(tokens), stream.name
            assert tokens[-1] <= reader.outcome(ENDINGS[0]).usage.tokens, stream.name

    def test_no_tool_runs_once_the_agent_has_ended_well(self, agent: Agent, streams: Sequence[Stream]) -> None:
        for stream in streams:
            reader = agent.lines()
            for line in stream.lines:
                reader.feed(line)
            assert reader.outcome(ENDINGS[0]).status != "ok" or not progress_of(reader).at_work, stream.name

    @RELAXED_SETTINGS
    @given(told=harms())
    def test_broken_lines_break_nothing_in_the_middle_either(
        self, agent: Agent, streams: Sequence[Stream], told: list[bytes | LineDamage]
    ) -> None:
        reader = agent.lines()
        for line in harmed(streams, told):
            reader.feed(line)
            found = progress_of(reader)
            assert found.usage.tokens >= 0
            assert found.cost is None or found.cost >= 0

    def test_asking_a_reader_twice_gives_the_same_outcome(self, agent: Agent, streams: Sequence[Stream]) -> None:
        for stream in streams:
            reader = agent.lines()
            for line in stream.lines:
                reader.feed(line)
            assert timeless(reader.outcome(ENDINGS[0])) == timeless(reader.outcome(ENDINGS[0])), stream.name


def _can_say_more(ended: Ended | Gone) -> bool:
    """Whether an ending may explain the failure: by an exit code for a missing login, or because it was cancelled."""
    return isinstance(ended, Ended) and (ended.exit_code not in (0, None) or ended.signal in (2, 15))


def sound(found: AgentOutcome) -> bool:
    """Whether an outcome is complete: a known status, a reason for a failure, and no negative numbers."""
    usages = [found.usage, *([] if found.total is None else [found.total])]
    return (
        found.status in get_args(OutcomeStatus)
        and (found.status == "ok" or bool(found.message))
        and all(part >= 0 for usage in usages for part in usage.parts)
        and (found.cost is None or found.cost >= 0)
        and (found.retry_after is None or found.retry_after >= 0)
    )


def timeless(found: AgentOutcome) -> tuple[AgentOutcome, bool]:
    """Remove what changes as time passes from an outcome: the time until a rate limit ends."""
    return replace(found, retry_after=None), found.retry_after is not None


def one_line(glimpse: str | None) -> bool:
    """Whether a glimpse fits in one row of a screen, which cuts it to its width."""
    return glimpse is None or (glimpse.strip() != "" and len(glimpse.splitlines()) == 1)
