"""Whatever a tool is called with, it answers in its own words, and the log stays valid.

HANDRAIL_SOAK=1 makes ten thousand calls instead of a few hundred.
"""

import asyncio
import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from handrail.serve.mcp.tool_result import ToolResult
from handrail.serve.mcp.tools import TOOLS
from support.pull.room import BY_ARTIFACT, CONTROL, Json, Pull, control, definition, loop, step

EXAMPLES = 2500 if os.environ.get("HANDRAIL_SOAK") else 75
CALLS = 4
RISK: Json = {
    "id": "risk",
    "purpose": "How risky it is.",
    "dimensions": [{"id": "scope", "purpose": "How much it touches.", "levels": ["high", "low"]}],
}
RULES = [{"type": "contains", "value": "done", "message": "say that it is done"}]
GUIDED = definition(
    step("one", notesOptional=True, prompt="x is {{x}} and {{x.y.z}}."),
    step("judge", assessmentRefs=["risk"], validationCriteria=RULES),
    loop("each", step("item", prompt="{{currentItem.name}}"), type="forEach", items="list"),
    loop("again", step("work"), step("end", **CONTROL), type="while", conditionSource=BY_ARTIFACT),
    step("maybe", runCondition={"var": "x", "matches": "(a+)+$"}),
    assessments=[RISK],
    name="guided-flow",
)
BUILT_IN = ("fix-bug", "implement-spec", "deps-nightly", "review-loop", "workflow-for-workflows", "keep-notes")
NATIVE = "name: NAME\nsteps:\n  - {name: first, command: 'true'}\n  - {name: ask, type: approval, message: 'Good?'}\n"


def mostly(usual: Any, *odd: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Give the usual value most of the time, so that calls get far enough to do harm."""
    return st.integers(0, 9).flatmap(lambda chance: st.one_of(*odd) if chance == 9 else st.just(usual))


texts = st.text(st.characters(), max_size=30)
leaves = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), texts, mostly("late", st.just("x" * 300_000)))
values: st.SearchStrategy[Any] = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=6
)
contexts = st.dictionaries(
    st.sampled_from(["x", "list", "goal", "__proto__", "constructor"]) | texts, values, max_size=3
)
LISTS: list[Any] = [[], [1], [{"name": "n"}], "no", {}]
lists = st.fixed_dictionaries({"list": st.sampled_from(LISTS)})
artifacts: st.SearchStrategy[Any] = st.one_of(
    values,
    st.just(control("stop")),
    st.just({"kind": "wr.assessment", "dimensions": {"scope": {"level": "low", "rationale": "seen"}}}),
    st.fixed_dictionaries({"kind": st.sampled_from(["wr.assessment", "wr.loop_control"]), "dimensions": values}),
    st.fixed_dictionaries({"kind": st.just("wr.loop_control"), "decision": values}),
)
outputs: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {},
    optional={"notesMarkdown": mostly("done", texts), "artifacts": st.lists(artifacts, max_size=3), "result": values},
)


odd_tokens = texts | st.sampled_from(["ct_", "st_AAAA", "ck_" + "A" * 60])
tokens = st.one_of(st.just(0), st.just(0), st.just(0), st.integers(1, 30), odd_tokens)
"""A number stands for one of the tokens that were given out so far, the newest first."""
PLAUSIBLE: dict[str, st.SearchStrategy[Any]] = {
    "continueToken": tokens,
    "checkpointToken": tokens,
    "intent": st.sampled_from(["advance", "advance", "rehydrate"]),
    "output": outputs,
    "context": contexts | lists,
    "contextVariables": contexts,
    "workflowId": mostly(
        "guided-flow", st.sampled_from(["native-flow", "nothing", "../x", "/dev/null", "a\0b", *BUILT_IN]), texts
    ),
    "workspacePath": mostly("HERE", st.sampled_from(["/", "/dev/null", "relative", "/\0", "/" + "x" * 300]), texts),
    "goal": mostly("Make it better.", texts),
    "mode": st.sampled_from(["metadata", "preview"]),
    "query": st.just("better") | texts,
    "runId": st.sampled_from(["guided-flow-1", "guided-flow-2", "@last"]) | texts,
    "sessionId": texts,
    "gitBranch": texts,
    "gitHeadSha": texts,
    "sameWorkspaceOnly": st.booleans(),
    "includeSources": st.booleans(),
    "tags": st.lists(texts, max_size=2),
}


_CONTINUE = [tool for tool in TOOLS if tool.name == "continue_workflow"]


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, Json]:
    """A call of a tool, nearly right or not at all."""
    tool = draw(st.sampled_from([*TOOLS, *8 * _CONTINUE]))
    if draw(st.integers(0, 19)) == 0:
        return draw(texts), draw(contexts)
    names = [*tool.required, *(name for name in tool.properties if name not in tool.required and draw(st.booleans()))]
    arguments = {name: draw(PLAUSIBLE.get(name, values)) for name in names}
    for _ in range(draw(st.sampled_from([0] * 9 + [1, 2]))):
        arguments[draw(st.sampled_from(sorted(PLAUSIBLE)) | texts)] = draw(values)
    return tool.name, arguments


class Fuzzed:
    """A room whose tools are called with anything, and the tokens that it gave out."""

    def __init__(self, pull: Pull) -> None:
        self.pull, self.tokens, self.calls, self.codes = pull, list[str](), 0, Counter[str]()
        pull.add(GUIDED)
        pull.add(NATIVE, "native-flow")
        self.call("start_workflow", {"workflowId": "guided-flow", "workspacePath": "HERE", "goal": "Make it better."})

    def call(self, name: str, arguments: Json) -> None:
        result = asyncio.run(self.pull.calls.call(name, {key: self._meant(value) for key, value in arguments.items()}))
        self.calls += 1
        self._judge(result)
        found = (result.data.get(key) for key in ("resumeToken", "checkpointToken", "continueToken"))
        self.tokens += [str(token) for token in found if token and token not in self.tokens]
        self.tokens = self.tokens[-31:]

    def _meant(self, value: Any) -> Any:
        if value == "HERE":
            return str(self.pull.workspace)
        return self.tokens[-1 - value % len(self.tokens)] if type(value) is int and self.tokens else value

    def _judge(self, result: ToolResult) -> None:
        assert result.texts
        "".join(result.texts).encode()
        json.dumps(result.data, ensure_ascii=False, allow_nan=False).encode()
        code = str(result.data["code"]) if result.is_error else str(result.data.get("kind", "ok"))
        self.codes[code] += 1
        if result.is_error:
            assert re.fullmatch(r"[A-Z][A-Z_]+", code)
            assert "INTERNAL" not in code
            assert len(result.texts[0].encode()) < 10_000


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fuzzed]:
    pull = Pull(tmp_path_factory.mktemp("fuzz"))
    yield Fuzzed(pull)
    pull.close()


@pytest.mark.timeout(3600)
@settings(
    max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(made=st.lists(calls(), min_size=CALLS, max_size=CALLS))
def test_whatever_a_tool_is_called_with_it_answers_in_its_own_words(
    made: list[tuple[str, Json]], fuzzed: Fuzzed
) -> None:
    before = fuzzed.codes.total()
    for name, arguments in made:
        fuzzed.call(name, arguments)
    assert fuzzed.codes.total() == before + len(made)


@pytest.mark.timeout(600)
def test_the_log_is_valid_after_all_of_it(fuzzed: Fuzzed) -> None:
    fuzzed.pull.assert_sound()
    said = fuzzed.pull.start("guided-flow")
    assert fuzzed.pull.advance(said).address == "judge"


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("value", [float("inf"), float("nan"), nested(101), nested(100_000)])
def test_what_no_log_can_keep_is_refused_before_anything_is_recorded(fuzzed: Fuzzed, value: Any) -> None:
    said = fuzzed.pull.start("guided-flow")
    size = fuzzed.pull.size()
    for arguments in ({"output": {"artifacts": [value]}}, {"context": {"x": value}}, {"output": {"result": value}}):
        refused = fuzzed.pull.call_once("continue_workflow", {"continueToken": said.token, **arguments})
        assert refused.code == "VALIDATION_ERROR"
    assert fuzzed.pull.size() == size
