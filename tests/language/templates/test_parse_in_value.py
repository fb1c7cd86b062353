"""`{{ name }}` where only `${name}` is filled in."""

import pytest

from handrail.language.templates.parse import templates_in_value

KNOWN = {"plan", "issue"}


@pytest.mark.parametrize(
    ("text", "marked", "hint"),
    [
        ("echo {{ plan }}", "{{ plan }}", "write `${plan}`"),
        ("echo '{{issue.title}}'", "{{issue.title}}", "write `${issue.title}`"),
        ("{{ plan[0] }}", "{{ plan[0] }}", "write `${plan[0]}`"),
        ("{{- plan | join(', ') -}}", "{{- plan | join(', ') -}}", "write `${plan | join(', ')}`"),
    ],
)
def test_a_known_name_is_found_with_the_right_form(text: str, marked: str, hint: str) -> None:
    (found,) = templates_in_value(text, KNOWN)
    assert (found.code, text[found.start : found.end], found.hint) == ("template-in-value", marked, hint)


@pytest.mark.parametrize(
    "text",
    [
        "docker inspect --format '{{.State}}' x",
        "docker ps --format '{{json .}}'",
        "docker inspect -f '{{range .plan}}{{.issue}}{{end}}'",
        "git log --format='{{ title }}'",
        "echo ${{ plan }} ${{plan.sha}}",
        "echo {{{ plan }}} {{#plan}} {{/plan}} {{> plan}}",
        "echo {{ plan name }} {{ }} {{}} {{",
        "echo ${plan} {plan} $plan",
        "{{" + " " * 100_000 + "plan",
    ],
)
def test_what_belongs_to_other_programs_is_left_alone(text: str) -> None:
    assert templates_in_value(text, KNOWN | {"json", "range"}) == ()
