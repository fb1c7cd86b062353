"""What globs stand for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.engine.text.globs import glob_problem, literal_folders, match_paths, matches

NAMES = st.text("ab.*?[]{},-/", max_size=14)


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("src/**", "src/a.py"),
        ("src/**", "src/deep/er/a.py"),
        ("src/**/*.py", "src/a.py"),
        ("src/**/*.py", "src/deep/er/a.py"),
        ("**/*.py", "a.py"),
        ("**/tests/**", "x/tests/y"),
        ("*.md", "README.md"),
        ("*", ".hidden"),
        ("src/?.py", "src/a.py"),
        ("src/[a-c].py", "src/b.py"),
        ("src/[!a-c].py", "src/d.py"),
        ("src/[]].py", "src/].py"),
        ("{src,lib}/*.{py,pyi}", "lib/a.pyi"),
        ("{src/**,lib}", "src/x/y"),
        ("src", "src/deep/a.py"),
        ("src/", "src/a.py"),
        ("./src//a.py", "src/a.py"),
        ("tests/test_[1].py", "tests/test_[1].py"),
        ("**", "anything/at/all"),
        ("ünï/*", "ünï/ço"),
        ("a b/*.txt", "a b/c d.txt"),
    ],
)
def test_a_glob_stands_for_a_path(glob: str, path: str) -> None:
    assert matches(glob, path)


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("src/**", "srcs/a.py"),
        ("src/*", "src/deep/a.py"),
        ("*.py", "src/a.py"),
        ("src/*.py", "src/deep/a.py"),
        ("src/?.py", "src/ab.py"),
        ("src/?", "src/"),
        ("src/[a-c].py", "src/d.py"),
        ("src/[!a-c].py", "src/b.py"),
        ("SRC/**", "src/a.py"),
        ("{src,lib}/a", "doc/a"),
        ("", "a"),
        ("../**", "../a/b"),
        ("/src/**", "src/a"),
        ("src/**.py", "src/a.py"),
    ],
)
def test_a_glob_does_not_stand_for_a_path(glob: str, path: str) -> None:
    assert not matches(glob, path)


@pytest.mark.parametrize(
    ("glob", "reason"),
    [
        ("", "is empty"),
        ("./", "is empty"),
        ("/etc/*", "is absolute"),
        ("~/x", "is absolute"),
        ("a/../../b", "leaves its folder"),
        ("a\\b", "contains a backslash"),
        ("a\0b", "contains a NUL character"),
        ("!src/**", "starts with '!', but globs cannot have exceptions"),
        ("src/**.py", "has '**' beside other characters: write src/**/*.py"),
        ("src/a**", "has '**' beside other characters: write src/a*/**"),
        ("{a,b}" * 7, "has more than 64 alternatives"),
        ("a" * 1025, "is longer than 1024 characters"),
    ],
)
def test_a_text_that_is_no_glob_is_refused_with_the_reason(glob: str, reason: str) -> None:
    assert glob_problem(glob) == reason


@pytest.mark.parametrize(
    ("globs", "folders"),
    [
        (["tests/**"], ("tests",)),
        (["tests/unit/*.py", "src"], ("src", "tests/unit")),
        (["**/*.py"], ("",)),
        (["src/a.py"], ("src/a.py",)),
        (["src/[ab]/x"], ("src",)),
    ],
)
def test_globs_stand_for_paths_below_their_literal_folders(globs: list[str], folders: tuple[str, ...]) -> None:
    assert literal_folders(globs) == folders


@given(NAMES, NAMES)
def test_whatever_a_glob_stands_for_lies_below_a_literal_folder(glob: str, path: str) -> None:
    for each in (path, glob.strip("/")):
        if glob_problem(glob) is None and matches(glob, each):
            assert any(not folder or f"{each}/".startswith(f"{folder}/") for folder in literal_folders([glob]))


def test_matching_gives_each_path_once_and_in_order() -> None:
    assert match_paths(["src/**", "**/*.py"], ["src/b.py", "a.py", "src/b.py", "x.md"]) == ["a.py", "src/b.py"]


def test_a_glob_with_many_stars_is_matched_in_no_time() -> None:
    assert not matches("*a" * 200 + "b", "a" * 4000)
    assert not matches("**/a/" * 100 + "b", "a/" * 2000 + "c")


@given(NAMES, NAMES)
def test_no_glob_and_no_path_raises(glob: str, path: str) -> None:
    matches(glob, path)
    assert glob_problem(glob) is None or not match_paths([glob], ["some/other"])


@given(st.lists(st.text("abc.", min_size=1, max_size=5).filter(lambda name: name not in (".", "..")), min_size=1))
def test_two_stars_stand_for_every_path(names: list[str]) -> None:
    path = "/".join(names)
    assert matches("**", path)
    assert matches(path, path)
    assert matches(f"{names[0]}/**", path)


def test_an_exception_takes_paths_out_again_wherever_it_stands_in_the_list() -> None:
    paths = ("a.go", "a_test.go", "in/b.go", "in/b_test.go", "README.md")
    assert match_paths(["**/*.go", "!**/*_test.go"], paths) == ["a.go", "in/b.go"]
    assert match_paths(["!**/*_test.go", "**/*.go"], paths) == ["a.go", "in/b.go"]
    assert match_paths(["!**/*_test.go"], paths) == []
    assert literal_folders(["in/**", "!out/**"]) == ("in",)
