"""What an agent is told of the work before its step: the files that each step changed, and what it does not see."""

from typing import Any

from support.runtime.steps_room import StepsRoom


def case(*steps: str) -> str:
    return "name: case\ndescription: a case\nsteps:\n" + "".join(f"  - {each}\n" for each in steps)


MAKES = "{name: make, prompt: Make it.}"
CHECKS = "{name: checks, type: gate, command: test -e good, fix: Make it good.}"
LOOKS = "{name: look, command: 'true'}"
LAST = "{name: last, prompt: Go on., KEYS}"
WORK: dict[str, Any] = {
    "make": {"files": {"a.txt": "a\n", "b.txt": "b\n"}},
    "checks/fix": {"files": {"good": "x\n"}},
    "last": {},
}


def told(shop: StepsRoom, keys: str) -> str:
    state = shop.run(case(MAKES, CHECKS, LOOKS, LAST.replace("KEYS", keys)), WORK)
    assert state.status == "succeeded", state.message
    return shop.prompts(state.run, "last")[0]


def test_the_files_that_each_step_changed_are_named(shop: StepsRoom) -> None:
    prompt = told(shop, "handoff: summary")
    assert "1. make: done\n   changed: a.txt, b.txt\n2. checks: done" in prompt
    assert "   changed: good\n3. look: done\n</data" in prompt
    assert "changed:" not in told(shop, "handoff: none")


def test_a_step_that_changed_many_files_names_the_first_of_them(shop: StepsRoom) -> None:
    files = {f"f{number:02}.txt": "x\n" for number in range(14)}
    state = shop.run(case(MAKES, LAST.replace("KEYS", "retry: 0")), {"make": {"files": files}, "last": {}})
    assert "f09.txt and 4 more\n" in shop.prompts(state.run, "last")[0]


FAN = "{name: build, type: parallel-agents, for_each: [1, 2], prompt: 'Build {{ item }}.', output: built}"
MERGE = "{name: combine, type: merge, from: '${built}'}"
BUILT: dict[str, Any] = {
    "build[0]/build": {"files": {"one.txt": "1\n"}},
    "build[1]/build": {"files": {"two.txt": "2\n"}},
    "last": {},
}


def test_an_agent_is_told_what_of_a_fan_out_it_does_not_see(shop: StepsRoom) -> None:
    last = LAST.replace("KEYS", "retry: 0")
    apart = "not in this folder: its changes are on the branches work/case-1-0, work/case-1-1"
    left = shop.run(case(FAN, last), BUILT)
    assert apart in shop.prompts(left.run, "last")[0]
    assert sorted(path.name for path in shop.tree(left.run).glob("*.txt")) == []
    merged = shop.run(case(FAN, MERGE, last), BUILT)
    assert merged.status == "succeeded", merged.message
    assert "not in this folder" not in shop.prompts(merged.run, "last")[0]
    assert sorted(path.name for path in shop.tree(merged.run).glob("*.txt")) == ["one.txt", "two.txt"]


def test_three_items_of_a_fan_out_work_at_a_time_unless_it_says_otherwise(shop: StepsRoom) -> None:
    fan = FAN.replace("[1, 2]", "[1, 2, 3, 4]")
    for keys, width in (("on_fail: block", 3), ("max_concurrent: 2", 2)):
        run = shop.start(case(fan.replace("output: built", keys)), {"build[0]/build": {"fail": "crashed"}})
        shop.drive()
        work = shop.state(run).stack[-1].work
        assert work is not None
        assert work.data["width"] == width
