import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.compiler.lint.shell import ChainPart, find_uses, mark_quoting, split_and

SCRIPTS = st.text(alphabet="ab$(){}\"'\\ &;|#<\nX=[]", max_size=60)


@pytest.mark.parametrize(
    ("script", "marks"),
    [
        ("a b", "   "),
        ("a 'b' c", "  '''  "),
        ('a "b" c', '  """  '),
        (r"a\"b", " ''" + " "),
        ('"a $(b "c") d"', '"""""  """ """'),
        ("'a \"b'", "''''''"),
    ],
)
def test_each_character_is_marked_by_how_it_stands(script: str, marks: str) -> None:
    assert mark_quoting(script) == marks


@given(SCRIPTS)
def test_every_character_has_a_mark(script: str) -> None:
    assert len(mark_quoting(script)) == len(script)


@given(SCRIPTS)
def test_no_script_breaks_the_search_for_variables(script: str) -> None:
    for use in find_uses(script):
        assert script[use.start] == "$"
        assert use.name in script[use.start : use.end]


@given(SCRIPTS)
def test_the_parts_of_a_chain_stand_in_the_script(script: str) -> None:
    assert all(part.text in script for part in split_and(script))


def test_a_chain_is_split_outside_of_quotes_and_parentheses() -> None:
    assert split_and("a && (b && c) && 'd && e'") == [
        ChainPart("a", 0),
        ChainPart("(b && c)", 2),
        ChainPart("'d && e'", 14),
    ]


@pytest.mark.parametrize(
    ("script", "how"),
    [
        ("echo $X", "bare"),
        ("echo ${X}", "bare"),
        ("echo ${X:-a}", "bare"),
        ('echo "$X"', "quoted"),
        ('echo "$(cat $X)"', "bare"),
        ("Y=$X", "quoted"),
        ("export Y=$X", "quoted"),
        ("make; Y=a$X", "quoted"),
        ("[[ $X == a ]]", "quoted"),
        ("[ $X = a ]", "bare"),
        ('eval "$X"', "eval"),
        ('sh -c "echo $X"', "sh -c"),
        ('python -c "print($X)"', "python -c"),
        ('sh -c "make"; echo "$X"', "quoted"),
    ],
)
def test_a_variable_is_seen_as_the_shell_sees_it(script: str, how: str) -> None:
    assert [(use.name, use.how) for use in find_uses(script)] == [("X", how)]


@pytest.mark.parametrize("script", ["echo '$X'", "echo a # $X", r"echo \$X", "cat <<END\n$X\nEND\n", "$X" * 6000])
def test_what_the_shell_does_not_split_is_not_seen(script: str) -> None:
    assert list(find_uses(script)) == []
