"""Which values of a prompt need no marks: the compiler decides by the names at their root, whatever filters follow."""

import pytest

from handrail.model.parts import parts, walk_steps
from handrail.model.workflow.values import BareHole, Prompt
from support.engine.walking import plan_of


def bare(
    prompt: str, *, step: str = "", before: str = "", inputs: str = "{x: string, level: low | high}"
) -> list[BareHole]:
    """Compile a workflow whose last step has this prompt, and give the holes that need no marks."""
    text = f"name: w\ninput: {inputs}\nsteps:\n{before}  - name: last\n{step}    prompt: {prompt!r}\n"
    return list(_prompts(text)[-1].bare)


def _prompts(text: str) -> list[Prompt]:
    return [prompt for _, each in walk_steps(plan_of(text).steps) for prompt in parts(each.action, Prompt)]


MADE = """\
  - {name: made, prompt: Make it., returns: {said: string, kind: a | b, parts: [string]}, output: made}
  - {name: ran, command: "true", output: ran}
"""


@pytest.mark.parametrize(
    "hole",
    [
        *("x", "input.x", "issue.title", "run.task", "run.id", "made", "made.said", "ran", "steps.ran.stdout"),
        *("previous_step.summary", "x | upper", "x | default('y')", "'a' ~ x", "[x, 'a'] | join(',')", "{'a': x}"),
        *(
            "made.parts | first",
            "x if x == 'a' else 'y'",
            "'y' if x == 'a' else x",
            "level | upper",
            "made.kind ~ ''",
            "input.level ~ x",
        ),
    ],
)
def test_what_may_come_from_elsewhere_is_marked(hole: str) -> None:
    assert bare(f"Look at {{{{ {hole} }}}} now.", before=MADE) == []


def test_what_the_author_wrote_is_bare() -> None:
    prompt = "Say {{ 'a' ~ 'b' }}, {{ 'y' if x == 'a' else 'n' }}, {{ ours | upper }}, {{ both }} and {{ theirs }}."
    step = "    input: {ours: quick, both: 'a ${level} b', theirs: '${x}'}\n"
    assert bare(prompt, step=step) == [BareHole(0), BareHole(1), BareHole(2)]


def test_a_choice_is_bare_only_as_one_of_its_words() -> None:
    assert bare("Work {{ x }} at {{ level }}.") == [BareHole(1, ("low", "high"))]
    assert bare("Work on {{ made.kind }} now.", before=MADE) == [BareHole(0, ("a", "b"))]


def test_an_item_is_what_its_list_is() -> None:
    theirs = "{% for a in made.parts %}{{ a }}{{ loop.index }}{% endfor %}"
    ours = "{% for b in ['x'] %}{{ b }}{% else %}{{ x }}{% endfor %}"
    assert bare(theirs + ours, before=MADE) == [BareHole(1), BareHole(2)]


LOOP = """\
name: w
input: {x: string}
steps:
  - name: made
    prompt: Make it now.
    output: made
  - name: around
    type: loop
    for_each: ITEMS
    max_iterations: 3
    input: {given: constant}
    steps:
      - {name: one, prompt: "Do {{ item }} with {{ given }}."OUTPUT}
"""


@pytest.mark.parametrize(
    ("items", "output", "expected"),
    [
        ("[a, b]", "", [BareHole(0)]),
        ("[a, '${x}']", "", []),
        ("${made | lines}", "", []),
        ("['a']", ", output: item2", [BareHole(0)]),
    ],
)
def test_the_items_of_a_loop_are_what_its_list_is(items: str, output: str, expected: list[BareHole]) -> None:
    text = LOOP.replace("ITEMS", items).replace("OUTPUT", output)
    # The steps of a body do not see the input of the loop around them: that name would be another one.
    assert list(_prompts(text)[-1].bare) == expected
