"""Whether a scenario could be played as written: every question answered, every turn present, nothing left over."""

from collections.abc import Iterator
from dataclasses import replace

from handrail.model.source import Entry, Mapping, Node
from handrail.operations.scenarios.problems import Evidence, Problem, problem
from handrail.operations.scenarios.read import list_items
from handrail.operations.scenarios.trace import Call


def find_obstacles(evidence: Evidence) -> Iterator[Problem]:
    """Yield what kept the scenario from being played to its end."""
    missing = next((call for call in evidence.trace.calls if not _has_turn(evidence, call)), None)
    ended, at = evidence.ended, evidence.scenario.node.entries["name"].key.span
    if missing is not None:
        yield _make_missing_turn_problem(evidence, missing)
    elif ended.trouble == "timeout":
        seconds = f"{evidence.scenario.timeout:g} s"
        found = problem(
            f"it took longer than {seconds} and was stopped", at, happened=_describe_position(ended.address)
        )
        yield replace(found, hint="give it more time: `timeout: 2m`")
    elif ended.trouble == "interrupted":
        yield problem("it was interrupted", at, happened=_describe_position(ended.address))
    elif ended.trouble and not _is_question_expected(evidence):
        yield _make_unanswered_problem(evidence)


def _describe_position(address: str) -> str:
    return f"it had reached '{address}'" if address else ""


def _is_question_expected(evidence: Evidence) -> bool:
    """Whether the test says that the run ends with exactly this question."""
    status = evidence.scenario.expect.get("status")
    return evidence.ended.trouble == "unanswered" and status is not None and _word(status) == "needs you"


def _word(node: Node) -> str:
    return str(getattr(node, "value", ""))


def _make_unanswered_problem(evidence: Evidence) -> Problem:
    ended, answers = evidence.ended, evidence.scenario.part("answers")
    asks = "asks a question" if ended.acting.reason == "question" else "asks for approval"
    place = evidence.scenario.node.entries["name"] if answers is None else evidence.scenario.node.entries["answers"]
    if ended.trouble == "wrong answer":
        what = f"'{ended.address}' {asks}, but the answer cannot be used: {ended.words}"
        return problem(what, place.key.span)
    word = '"what you would say"' if ended.acting.reason == "question" else "approve"
    given = None if answers is None else next((each for each in answers if each.name == ended.address), None)
    found = problem(f"'{ended.address}' {asks}, but the test has no {_further(given)}answer", place.key.span)
    add = f"answers:\n  {ended.address}: {word}"
    if given is not None:
        add = f"answers:\n  {ended.address}: [..., {word}]"
    return replace(found, happened=ended.words, add=add)


def _further(given: Entry | None) -> str:
    return "" if given is None else "further "


def _has_turn(evidence: Evidence, call: Call) -> bool:
    script = evidence.scenario.script
    found = None if script is None else script.plays(call.own, call.turn, call.turn_in_round)
    if script is None or found is None:
        return False
    turns = script.steps[found[0]]
    return turns.repeats or found[1] <= len(turns.turns)


def _make_missing_turn_problem(evidence: Evidence, call: Call) -> Problem:
    """Report which turn is missing, with the lines to add."""
    script, turns = evidence.scenario.script, evidence.scenario.part("turns")
    found = None if script is None else script.plays(call.own, call.turn, call.turn_in_round)
    if script is None or turns is None or found is None:
        at = evidence.scenario.node.entries["turns" if turns is not None else "name"].key.span
        what = f"the agent of '{call.address}' was called, but the test has no turn for it"
        return replace(problem(what, at), add=f"turns:\n  {_quote_address(call.own)}:\n    - say: done")
    count = len(script.steps[found[0]].turns)
    what = f"the agent of '{call.address}' was called {found[1]} times, but the test has {_turns(count)} for it"
    hint = f"add a turn to '{found[0]}', such as `- say: done`, or `- ...` at its end to repeat the last one"
    at = turns.entries[found[0]].key.span
    return replace(problem(what, at, happened=_explain_retry(evidence, call)), hint=hint)


def _explain_retry(evidence: Evidence, call: Call) -> str:
    """Explain why a step is tried again: usually that is what has to be fixed."""
    visit = next((each for each in reversed(evidence.trace.visits) if each.address == call.address), None)
    return f"the previous call was not enough: {visit.before}" if visit is not None and visit.before else ""


def _turns(count: int) -> str:
    return f"{count} turn{'' if count == 1 else 's'}"


def _quote_address(address: str) -> str:
    return f'"{address}"' if "[" in address else address


def find_unused(evidence: Evidence) -> Iterator[Problem]:
    """Yield what the test provides and the run never asked for."""
    yield from _find_unused_turns(evidence)
    for entry, item in evidence.answers.list_unused():
        yield _make_unused_problem(f"the answer for '{entry.name}' was never used", entry, item)
    for entry, item in evidence.results.list_unused():
        yield _make_unused_problem(
            f"the commands of '{entry.name}' were never run, so their result was not used", entry, item
        )


def _make_unused_problem(what: str, entry: Entry, item: Node) -> Problem:
    at = item.span if item is not entry.value else entry.key.span
    return replace(problem(what, at), hint="remove it, or check why the run never got there")


def _find_unused_turns(evidence: Evidence) -> Iterator[Problem]:
    script, written = evidence.scenario.script, evidence.scenario.part("turns")
    if script is None or written is None:
        return
    played = dict.fromkeys(script.steps, 0)
    for call in evidence.trace.calls:
        found = script.plays(call.own, call.turn, call.turn_in_round)
        if found is not None:
            played[found[0]] = max(played[found[0]], found[1])
    for entry in written:
        items = [item for item in list_items(entry.value) if isinstance(item, Mapping)]
        for number, item in enumerate(items[played[entry.name] :], played[entry.name] + 1):
            which = f"turn {number} of '{entry.name}'" if len(items) > 1 else f"the turn of '{entry.name}'"
            yield _make_unused_problem(f"{which} was never played", entry, item)
