"""`make style` judges what it should: small texts in, a verdict out."""

import pytest

from support.style.names import (
    count_comments,
    measure_classes,
    measure_docstrings,
    measure_functions,
    measure_modules,
)
from support.style.prose import read_passages
from support.style.report import Measure, format_report, measure_sources, measure_wordings
from support.style.single_calls import measure_single_calls
from support.style.wording import Allowed, find_wordings
from support.style.words import is_gerund, is_participle


def wordings(text: str, path: str = "page.md") -> list[str]:
    return [each.text for each in find_wordings(path, text)]


@pytest.mark.parametrize("word", ["kept", "told", "said", "made", "found", "recorded", "used", "began"])
def test_participles_and_past_tenses_are_found(word: str) -> None:
    assert is_participle(word)


@pytest.mark.parametrize("word", ["read", "set", "put", "cut", "run", "split", "let", "need", "feed", "embed", "keep"])
def test_imperatives_are_verbs_whatever_they_look_like(word: str) -> None:
    assert not is_participle(word)


def test_functions_methods_and_inner_functions_count_alike_and_special_methods_never_break_the_rule() -> None:
    text = """
def kept_files(): ...
def _told(): ...
def read_told(): ...
class Box:
    def __told__(self): ...
    @property
    def ended(self):
        async def sent(): ...
"""
    share = measure_functions({"a.py": text})
    assert share.hits == ("a.py:2 kept_files", "a.py:3 _told", "a.py:8 ended", "a.py:9 sent")
    assert share.total == 6


def test_classes_named_by_a_participle_are_found_unless_a_noun_follows() -> None:
    names = ["Wanted", "_Kept", "HandedOn", "PinnedWorkflow", "StepEnded", "Need", "HTTPServer", "_"]
    share = measure_classes({"a.py": "".join(f"class {name}: ...\n" for name in names)})
    assert share.hits == ("a.py:1 Wanted", "a.py:2 _Kept", "a.py:3 HandedOn")
    assert share.total == len(names)


def test_short_private_functions_with_one_call_and_no_other_use_are_found() -> None:
    text = """
def public(): return _once() + _twice() + _twice() + len(map(_passed, [])) + _long() + _cached()
def _once():
    '''Say what.

    In two paragraphs.
    '''
    return 1
def _twice(): return 2
def _passed(): return 3
def _long():
    a = 1
    b = 2
    c = 3
    return a + b + c
@cache
def _cached(): return 4
class Box:
    def __len__(self): return self._count()
    def _count(self): return 5
"""
    share = measure_single_calls({"a.py": text})
    assert share.hits == ("a.py:3 _once", "a.py:20 _count")
    assert share.total == 6


def test_modules_and_packages_that_end_in_a_gerund_are_found_and_nouns_are_not() -> None:
    paths = ["box/__init__.py", "box/driving/__init__.py", "box/driving/finding.py", "box/run_spending.py"]
    share = measure_modules(paths)
    assert (share.hits, share.total) == (("box/driving", "box/run_spending.py"), 4)
    assert not is_gerund("string")


def test_docstrings_that_begin_with_give_are_found_and_those_that_have_it_later_are_not() -> None:
    text = '"""Give all."""\ndef a():\n    """Give one."""\ndef b():\n    """Forgive, or give."""\ndef c(): ...\n'
    share = measure_docstrings({"a.py": text})
    assert (share.hits, share.total) == (("a.py:1", "a.py:3"), 3)


def test_comments_are_counted_per_hundred_lines() -> None:
    assert count_comments({"a.py": "# why\n" + "a = '# no comment'\n" * 49}) == 2.0


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("mend that, then resume: the step begins anew", ["anew", "mend"]),
        ("a work tree, and two work\ntrees", ["work tree", "work trees"]),
        ("fix-bug-5 asks nobody for approval", ["asks nobody"]),
        ("interrupted: nobody drives it", ["nobody drives"]),
        ("run needs somebody", ["needs somebody"]),
        ("cannot perform by itself", ["by itself", "cannot perform"]),
        ("'30 minutes' is no duration", ["is no duration"]),
        ("-3 is too small, the least is 0", ["the least is"]),
        ("step by step and in all", ["in all"]),
        ("the person is told", ["told"]),
    ],
)
def test_wordings_of_the_table_are_found(text: str, found: list[str]) -> None:
    assert wordings(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "fix that, then resume: the step starts over",
        "a worktree",
        "there is no such run, and there can be no other",
        "it is no longer used",
        "in all repositories",
        "I recommend amending it",
        "the key `told`",
        "nobody needs it",
    ],
)
def test_plain_words_pass(text: str) -> None:
    assert wordings(text) == []


def test_names_in_code_are_not_prose() -> None:
    assert wordings('told = {"told": mend}\n', "a.py") == []


def test_comments_docstrings_and_messages_are_prose_in_their_own_lines() -> None:
    text = '"""Told."""\n\n# It is a work\n# tree.\nraise Error(\n    "the first, "\n    f"then {told} mend it"\n)\n'
    found = [(each.line, each.text) for each in find_wordings("a.py", text)]
    assert found == [(1, "Told"), (3, "work tree"), (7, "mend")]


def test_an_exception_holds_for_its_own_files_and_words_alone() -> None:
    allowed = (Allowed("old/*.md", r"mend it", "quoted"),)
    text = "mend it, then mend that"
    assert [each.text for each in find_wordings("old/a.md", text, allowed)] == ["mend"]
    assert len(list(find_wordings("new/a.md", text, allowed))) == 2


def test_a_passage_says_where_it_begins() -> None:
    assert [(each.line, each.text) for each in read_passages("a.py", "a = 1\n\n# why\n")] == [(3, "why")]


def test_a_limit_is_held_up_to_its_value_and_not_above_it() -> None:
    verbs = "".join(f"def find_{n}(): ...\n" for n in range(97))
    held = measure_sources({"a.py": verbs + "def kept(): ...\n" * 3})[0]
    exceeded = measure_sources({"a.py": verbs + "def kept(): ...\n" * 4})[0]
    assert (held.now, held.is_held) == ("3.0 % (3 of 100)", True)
    assert (exceeded.now, exceeded.is_held) == ("4.0 % (4 of 101)", False)


def test_one_wording_is_one_too_many() -> None:
    assert measure_wordings({"a.md": "fix it"}).is_held
    assert not measure_wordings({"a.md": "mend it"}).is_held


def test_the_report_is_a_table_with_the_places_of_what_exceeds_its_limit() -> None:
    measures = [
        Measure("names", "5 %", "3 %", is_held=False, places=("a", "b", "c")),
        Measure("comments", "1", "", is_held=True, places=("d",)),
    ]
    assert format_report(measures, 2).splitlines() == [
        "what      now  limit",
        "names     5 %  3 %    ✗",
        "comments  1",
        "",
        "names:",
        "  a",
        "  b",
        "  and 1 more (--all shows them)",
    ]
