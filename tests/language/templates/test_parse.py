# ruff: noqa: E501 - messages are recorded in one piece
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from handrail.language.problems import EvaluationError, LanguageError
from handrail.language.templates.parse import check_template, parse_template, placeholders, render, template_refs
from handrail.language.values import Limits
from handrail.model.codes import CODES
from handrail.model.workflow.types import INT, STRING, Field, ListType, RecordType, Type
from support.language.expressions import SCOPES, explained, is_read_or_explained

SCOPE: dict[str, object] = {
    "name": "Ada",
    "xs": ["a", "b"],
    "none_yet": [],
    "m": {"k": 1},
    "ok": True,
    "x": {"y": "Z"},
    "nothing": None,
    "price": 1.0,
}


def rendered(text: str) -> str:
    return render(parse_template(text), SCOPE)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello {{ name }}!", "Hello Ada!"),
        ("{{ xs }} {{ ok }} {{ nothing }} {{ price }}", '["a", "b"] true none 1.0'),
        ("a\n{% if ok %}\nb\n{% endif %}\nc\n", "a\nb\nc\n"),
        ("a\n  {% if not ok %}\nb\n  {% else %}\nc\n  {% endif %}\nd", "a\nc\nd"),
        ("{% if not ok %}1{% elif name == 'Ada' %}2{% else %}3{% endif %}", "2"),
        ("{% for x in xs %}{{ loop.index }}{{ x }}{% if not loop.last %}, {% endif %}{% endfor %}\nend", "1a, 2b\nend"),
        ("{% for x in xs %}\n- {{ x }}\n{% endfor %}\nend", "- a\n- b\nend"),
        ("{% for x in none_yet %}x{% else %}nothing{% endfor %}", "nothing"),
        ("{% for e in m %}{{ e.key }}={{ e.value }}{% endfor %}", "k=1"),
        ("{% for x in xs %}{{ loop.index0 }}{{ loop.first }}{{ loop.length }} {% endfor %}", "0true2 1false2 "),
        ("{% raw %}{{ name }} {% if %}{% endraw %}", "{{ name }} {% if %}"),
        ("{% raw %}\n{{ a }}\n{% endraw %}\nb", "{{ a }}\nb"),
        ("a{# a note #}b\n{# alone #}\nc", "ab\nc"),
        ("a \n {{- name -}} \n b", "aAdab"),
        ("a\n {%- if ok -%} \n b {%- endif %}", "ab"),
        ("{{.x.y}} {{ .x.y }} {% for a in .xs %}{{ a }}{% endfor %}", "Z Z ab"),
        ("${name} $x costs ${{ price }}", "${name} $x costs $1.0"),
        ("{{ '}}' ~ {'a': {'b': '{{'}}.a.b }}", "}}{{"),
        ("{% if '%}' == '%}' %}x{% endif %}", "x"),
        ("no newline is lost\n", "no newline is lost\n"),
        ("{ % } {", "{ % } {"),
    ],
)
def test_templates_render(text: str, expected: str) -> None:
    assert rendered(text) == expected


def test_long_data_is_indented_json() -> None:
    scope: dict[str, object] = {"xs": [{"title": "x" * 60}, {"title": "y" * 60}]}
    assert render(parse_template("{{ xs }}"), scope).startswith('[\n  {\n    "title": "xxx')


def test_values_are_never_read_again() -> None:
    scope: dict[str, object] = {"x": "{{ y }} {% if true %} ${y} {# c #}", "y": "secret"}
    assert render(parse_template("{{ x }}"), scope) == "{{ y }} {% if true %} ${y} {# c #}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "{{ name",
            snapshot(
                "0-2 template-syntax: `{{` is never closed | add `}}`, or write `{% raw %}{{{% endraw %}` if you mean the literal text"
            ),
        ),
        ("{{ don't }}", snapshot("6-9 expression-syntax: the text is never closed | add a closing '")),
        ("{{ }}", snapshot("2-5 template-syntax: an expression is missing | None")),
        ("{% if ok %}a", snapshot("2-11 template-syntax: `{% if %}` is never closed | add `{% endif %}`")),
        ("{% for x in xs %}a", snapshot("2-17 template-syntax: `{% for %}` is never closed | add `{% endfor %}`")),
        ("{% endif %}", snapshot("2-9 template-syntax: `{% endif %}` without an opening tag | None")),
        (
            "{% set a = 1 %}",
            snapshot(
                "2-13 tag-unknown: `{% set %}` is not supported | a template cannot assign values; use a step's `output`"
            ),
        ),
        (
            "{% macro a() %}{% endmacro %}",
            snapshot(
                "2-13 tag-unknown: `{% macro %}` is not supported | macros are not supported; write the text where it is needed"
            ),
        ),
        (
            "{% include 'x' %}",
            snapshot(
                "2-15 tag-unknown: `{% include %}` is not supported | prompts cannot include files; write the text here, or use a step's `input`"
            ),
        ),
        (
            "{% iff x %}",
            snapshot(
                "2-9 tag-unknown: unknown tag 'iff', did you mean 'if'? | the tags are if, elif, else, endif, for, endfor, raw, endraw"
            ),
        ),
        (
            "{% for a, b in m %}{% endfor %}",
            snapshot(
                "2-17 template-syntax: `for` needs one name and `in` | write `{% for item in items %}`; for a map, use `item.key` and `item.value`"
            ),
        ),
        ("{% raw %}x", snapshot("0-9 template-syntax: `{% raw %}` is never closed | add `{% endraw %}`")),
        (
            "{# note",
            snapshot(
                "0-2 template-syntax: `{#` is never closed | add `#}`, or write `{% raw %}{#{% endraw %}` if you mean the literal text"
            ),
        ),
        ("ab {{ x. }}", snapshot("7-8 expression-syntax: a field's name must follow `.` | None")),
        (
            "{% %}",
            snapshot("2-3 tag-unknown: an empty tag | the tags are if, elif, else, endif, for, endfor, raw, endraw"),
        ),
        (
            "{% if ok %}{% else %}{% elif ok %}{% endif %}",
            snapshot("23-32 template-syntax: `{% elif %}` without an opening tag | None"),
        ),
    ],
)
def test_what_cannot_be_read_is_explained(text: str, expected: str) -> None:
    with pytest.raises(LanguageError) as caught:
        parse_template(text)
    found = caught.value.problem
    assert found.code in CODES
    assert f"{found.start}-{found.end} {found.code}: {found.message} | {found.hint}" == expected


@pytest.mark.parametrize("tag", ["set", "macro", "include", "import", "extends", "call", "filter", "block"])
def test_every_other_tag_of_jinja_is_refused_with_its_own_message(tag: str) -> None:
    with pytest.raises(LanguageError) as caught:
        parse_template(f"{{% {tag} x %}}")
    assert caught.value.problem.message == f"`{{% {tag} %}}` is not supported"
    assert caught.value.problem.hint


def test_tags_nest_up_to_a_limit() -> None:
    assert render(parse_template("{% if ok %}" * 32 + "x" + "{% endif %}" * 32), SCOPE) == "x"
    with pytest.raises(LanguageError, match="deeper than 32"):
        parse_template("{% if ok %}" * 10_000)


def test_a_condition_in_a_template_must_be_a_boolean() -> None:
    with pytest.raises(EvaluationError, match="must be true or false"):
        rendered("{% if xs %}a{% endif %}")


def test_the_output_is_capped() -> None:
    template = parse_template("{% for x in xs %}{% for y in xs %}{{ big }}{% endfor %}{% endfor %}")
    with pytest.raises(EvaluationError, match="longer than 1000"):
        render(template, {"xs": list(range(100)), "big": "x" * 100}, Limits(text=1000))


def test_a_template_is_checked_with_the_types_of_its_loops() -> None:
    scope: dict[str, Type] = {"tasks": ListType(RecordType((Field("id", STRING), Field("n", INT))))}
    template = parse_template(
        "{% for t in tasks %}{{ t.idd }}{{ loop.nope }}{% if t.n %}{% endif %}{% endfor %}{{ t }}"
    )
    found = [(one.code, one.message) for one in check_template(template, scope)]
    assert found == snapshot(
        [
            ("unknown-field", "unknown field 'idd' of 't', did you mean 'id'?"),
            ("unknown-field", "unknown field 'nope' of 'loop'"),
            ("not-boolean", "a condition must be true or false, but `t.n` is a number"),
            ("unknown-name", "unknown variable 't'"),
        ]
    )


def test_loops_over_something_else_are_found_before_there_are_values() -> None:
    found = check_template(parse_template("{% for c in name %}{% endfor %}"), {"name": STRING})
    assert [one.message for one in found] == snapshot(["`for` needs a list or a map, and `name` is neither"])


def test_refs_of_a_template_leave_out_what_its_loops_make() -> None:
    template = parse_template("{% for t in tasks %}{{ t.id }}{{ loop.index }}{{ steps.a.b }}{% endfor %}{{ t }}")
    assert [ref.path for ref in template_refs(template)] == ["tasks", "steps.a.b", "t"]


def test_placeholders_in_a_prompt_are_found_for_a_lint() -> None:
    found = placeholders("a ${repro.test} $${x} ${HOME:-x} ${ y }")
    assert [(one.message, one.start, one.end, one.hint) for one in found] == snapshot(
        [("repro.test", 2, 15, "write `{{ repro.test }}`"), ("y", 33, 39, "write `{{ y }}`")]
    )


@given(st.text())
def test_any_text_is_a_template_or_refused(text: str) -> None:
    assert is_read_or_explained(parse_template, text)


PIECES = [
    "{{ a }}",
    "{% if b == 1 %}",
    "{% else %}",
    "{% endif %}",
    "{% for x in a %}",
    "{% endfor %}",
    "{{",
    "}}",
    "{%- raw %}",
    "{% endraw -%}",
    "{# c #}",
    "\n",
    " ",
    "text",
    "{{ loop.index }}",
    "{{- x -}}",
    "'",
]


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join), SCOPES)
def test_any_template_on_any_data_renders_or_explains(text: str, scope: dict[str, object]) -> None:
    try:
        assert isinstance(render(parse_template(text), scope), str)
    except (LanguageError, EvaluationError) as error:
        explained(error)


@given(st.text().filter(lambda text: not {"{{", "{%", "{#"} & {text[i : i + 2] for i in range(len(text))}))
def test_text_without_marks_is_itself(text: str) -> None:
    assert render(parse_template(text), {}) == text
