import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.authoring.importers.coven.go_syntax import Untranslatable, parse_action
from handrail.authoring.importers.coven.go_templates import TemplateContext, literal, translate_template
from handrail.authoring.importers.coven.go_values import command, condition, duration, translate_text
from handrail.authoring.importers.coven.names import CovenNames


def _names() -> CovenNames:
    return CovenNames(lambda _: None)


def _translate(text: str, **includes: str) -> tuple[str, list[tuple[int, str]]]:
    lost: list[tuple[int, str]] = []
    around = TemplateContext(_names(), includes, lambda line, message: lost.append((line, message)))
    return translate_template(text, around), lost


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("{{.a}}", "{{ a }}"),
        ("{{ .a.b-c }}", "{{ a.b_c }}"),
        ('{{.items | join ", "}}', "{{ items | join(', ') }}"),
        ('{{join .items ", "}}', "{{ items | join(', ') }}"),
        ('{{default "x" .a | upper}}', "{{ a | default('x') | upper }}"),
        ("{{indent 4 .a}}", "{{ a | indent(4) }}"),
        ("{{quote .a}}", "{{ a | json }}"),
        ("{{len .a}}", "{{ a | length }}"),
        ("{{if .a}}x{{else}}y{{end}}", "{% if a %}x{% else %}y{% endif %}"),
        ('{{if eq .a "b"}}x{{else if not .c}}y{{end}}', "{% if a == 'b' %}x{% elif not c %}y{% endif %}"),
        ("{{range .xs}}{{.name}} {{end}}", "{% for item in xs %}{{ item.name }} {% endfor %}"),
        (
            "{{range .xs}}{{range .ys}}{{.}}{{$.z}}{{end}}{{end}}",
            "{% for item in xs %}{% for item2 in item.ys %}{{ item2 }}{{ z }}{% endfor %}{% endfor %}",
        ),
        ("{{range $i, $x := .xs}}{{$x.a}}{{end}}", "{% for x in xs %}{{ x.a }}{% endfor %}"),
        ("a {{- /* no */ -}} b", "ab"),
        ("{% if %} {# c #}", "{% raw %}{% if %} {# c #}{% endraw %}"),
        ('{{include "p"}}', "[{{ a }}]"),
    ],
)
def test_templates_are_translated(written: str, expected: str) -> None:
    found, _ = _translate(written, p="[{{.a}}]\n")
    assert found == expected


def test_trim_marks_take_the_blanks_away() -> None:
    assert _translate("a \n {{- .b -}} \n c")[0] == "a{{ b }}c"


@pytest.mark.parametrize(
    "written",
    [
        '{{printf "%d" .a}}',
        "{{$x}}",
        "{{.}}",
        '{{template "x"}}',
        "{{.a.steps.in}}",
        "{{.a .b}}",
        "{{end}}",
        "{{else}}",
    ],
)
def test_what_has_no_counterpart_stays_as_plain_text(written: str) -> None:
    found, lost = _translate(f"one\n{written}\n")
    assert found == "one\n{% raw %}" + written + "{% endraw %}\n"
    assert [line for line, _ in lost] == [2]


def test_the_inside_of_a_lost_block_is_still_translated() -> None:
    found, lost = _translate("{{range printf .x}}{{.y}}{{else}}z{{end}}")
    assert found.count("{% raw %}") == 3
    assert "{{ y }}" in found
    assert len(lost) == 1


def test_a_block_that_is_never_ended_is_ended_and_reported() -> None:
    found, lost = _translate("{{if .a}}x")
    assert found == "{% if a %}x{% endif %}"
    assert len(lost) == 1


def test_includes_stop_at_five_levels() -> None:
    texts = {f"p{n}": '{{include "p' + str(n + 1) + '"}}' for n in range(9)}
    _, lost = _translate('{{include "p0"}}', **texts)
    assert "deeper than 5 levels" in lost[0][1]


def test_plain_text_with_endraw_in_it_stays_plain() -> None:
    assert literal("{% endraw %}") == "{% raw %}{%{% endraw %} endraw %}"


def test_values_and_commands_get_holes() -> None:
    assert translate_text("a {{.b}} c", _names()) == "a ${b} c"
    assert command("echo {{.b.c}} ${x:-y} ${HOME} $f", _names()) == "echo ${b.c} $${x:-y} ${HOME} $f"


@pytest.mark.parametrize("text", ["", "1", "5 m", "1d", "m", "-1m", "1e3s"])
def test_what_is_no_duration_is_none(text: str) -> None:
    assert duration(text) is None


@pytest.mark.parametrize(
    "text", ["maybe", "{{.a}} and", "{{}}", "{{eq .a}}", "{{(.a}}", "{{" + "(" * 40 + ".a" + ")" * 40 + "}}"]
)
def test_a_condition_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(Untranslatable):
        condition(text, _names())


@given(st.text(alphabet='{}.$|()"`-:=,/*% \nabeiflndrgwth1', max_size=60))
def test_no_text_crashes_the_translation(text: str) -> None:
    written, lost = _translate(text)
    assert all(1 <= line <= text.count("\n") + 1 for line, _ in lost)
    assert "{{" in text or (written, lost) == (literal(text), [])
    with contextlib.suppress(Untranslatable):
        parse_action(text)


@pytest.mark.parametrize("text", ["{{" * 50_000, '{{"' * 50_000, "{{`" * 50_000])
def test_actions_that_are_never_closed_stay_plain_text(text: str) -> None:
    assert _translate(text) == (literal(text), [])
