"""The keys of loops."""

from support.differences.performers import Play
from support.differences.proofs import Benches, Json, flow, proves

BODY: list[Json] = [{"name": "say", "command": "echo ${round}"}]
LOOP: Json = {"name": "again", "type": "loop", "max_iterations": 4, "steps": BODY}


def said(run: Benches, **more: object) -> list[str]:
    """Give what the body said in each round."""
    return [each["HR_1"] for each in run(flow({**LOOP, **more})).environments]


@proves("loop step.for", "loop step.steps")
def test_for_gives_the_number_of_rounds(both: Benches) -> None:
    assert said(both, **{"for": 2}) == ["1", "2"]
    assert said(both, **{"for": 3}) == ["1", "2", "3"]
    twice = [*BODY, {"name": "more", "command": "echo ${round}"}]
    assert said(both, **{"for": 1, "steps": twice}) == ["1", "1"]


@proves("loop step.while", "loop step.until")
def test_while_and_until_decide_when_a_loop_ends(both: Benches) -> None:
    assert said(both, **{"while": "round <= 1"}) == ["1"]
    assert said(both, **{"while": "round <= 2"}) == ["1", "2"]
    assert said(both, until="round >= 1") == ["1"]
    assert said(both, until="round >= 3") == ["1", "2", "3"]


@proves("loop step.max_iterations", "rounds.max_iterations", "loop step.max", "loop step.max_cycles")
def test_max_iterations_bounds_the_rounds_by_whatever_word(both: Benches) -> None:
    without = {name: value for name, value in LOOP.items() if name != "max_iterations"}

    def rounds(**limit: int) -> list[str]:
        return [each["HR_1"] for each in both(flow({**without, "until": "round >= 9", **limit})).environments]

    assert rounds(max_iterations=4) == ["1", "2", "3", "4"]
    assert rounds(max_iterations=2) == rounds(max=2) == rounds(max_cycles=2) == ["1", "2"]


@proves("rounds.on_max", "rounds.on_max_iterations")
def test_on_max_decides_what_happens_after_the_last_round(both: Benches) -> None:
    def ends(**more: str) -> str:
        return both(flow({**LOOP, "until": "round >= 9", **more})).status

    assert ends() == "succeeded"
    assert [ends(on_max=word) for word in ("continue", "block", "fail")] == ["succeeded", "blocked", "failed"]
    words = ("continue", "block", "exit")
    assert [ends(on_max_iterations=word) for word in words] == ["succeeded", "blocked", "failed"]


@proves("for_each.for_each", "for_each.as")
def test_for_each_walks_items_under_their_name(both: Benches) -> None:
    says = [{"name": "say", "command": "echo ${item}"}]
    assert said(both, for_each=["a", "b"], steps=says) == ["a", "b"]
    named = [{"name": "say", "command": "echo ${colour}"}]
    assert said(both, **{"for_each": ["a"], "as": "colour", "steps": named}) == ["a"]


@proves("for_each.key")
def test_a_key_names_the_round_of_an_item(both: Benches) -> None:
    items = [{"name": "red"}, {"name": "blue"}]
    asks = [{"name": "paint", "prompt": "Paint it {{ item.name }}."}]

    def addresses(**more: str) -> list[str]:
        loop = {**LOOP, "for_each": items, "steps": asks, **more}
        return both(flow(loop), plays={"again[red]/paint": Play()}).addresses

    assert addresses(key="item.name") == ["again[red]/paint", "again[blue]/paint"]
    assert addresses() == ["again[0]/paint", "again[1]/paint"]
