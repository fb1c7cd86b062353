"""Defines which paths a glob matches: one meaning for proofs, results and checks.

1. A glob is matched against the whole path, from the top of the workspace, with `/` between folders; case matters, and
   names that begin with a dot are like any other.
2. `*` matches any characters of one name, `?` one of them, `[abc]`, `[a-z]` and `[!abc]` one of a set, `{a,b}`
   alternatives, `**` as a whole name any number of folders, including none.
3. A last name without a wildcard also matches everything below it: `src` is the file or the whole folder.
4. In a list, `!GLOB` is an exception: what it matches is excluded, wherever in the list it is written.
5. A glob that is written exactly like a path matches that path, whatever characters are in it.

Matching takes time in proportion to the lengths of both, whatever the glob.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import takewhile
from typing import TypeVar

from handrail.model.names import path_problem

MAX_ALTERNATIVES = 64
MAX_LENGTH = 1024
_WILD = re.compile(r"[*?]|\[[^\]]")
_SET = re.compile(r"\[([!^]?)(\]?[^\]]*)\]")
_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")
T = TypeVar("T")
P = TypeVar("P")


def glob_problem(glob: str) -> str | None:
    """Explain why a text is not a usable glob, or return None."""
    reason = path_problem(glob)
    if reason is not None:
        return reason
    if not _tidy(glob):
        return "is empty"
    if len(glob) > MAX_LENGTH:
        return f"is longer than {MAX_LENGTH} characters"
    if glob.startswith("!"):
        return "starts with '!', but globs cannot have exceptions"
    written_out = _alternatives(glob)
    if not written_out:
        return f"has more than {MAX_ALTERNATIVES} alternatives"
    return next(filter(None, map(_double_star_problem, written_out)), None)


def _double_star_problem(glob: str) -> str | None:
    """Explain why a `**` beside other characters is refused: it means different things elsewhere."""
    for name in glob.split("/"):
        if "**" in name and name != "**":
            better = glob.replace(name, name.replace("**", "**/*" if name.startswith("**") else "*/**", 1))
            return f"has '**' beside other characters: write {better}"
    return None


def matches(glob: str, path: str) -> bool:
    """Whether a glob matches a path; an unusable one matches none."""
    if _tidy(glob) == path:
        return True
    if glob_problem(glob) is not None:
        return False
    names = path.split("/")
    return any(_match_wildcards(pattern, names, _is_folders, _name_fits) for pattern in _patterns(glob))


def match_paths(globs: Iterable[str], paths: Iterable[str]) -> list[str]:
    """List the paths that match some glob and no exception, in order."""
    known = tuple(globs)
    wanted = tuple(glob for glob in known if not glob.startswith("!"))
    excepted = tuple(glob.removeprefix("!") for glob in known if glob.startswith("!"))
    return sorted({path for path in paths if _matches_any(wanted, path) and not _matches_any(excepted, path)})


def _matches_any(globs: Iterable[str], path: str) -> bool:
    return any(matches(glob, path) for glob in globs)


def literal_folders(globs: Iterable[str]) -> tuple[str, ...]:
    """Return the paths below which everything lies that some globs match; an empty one is the top."""
    # A glob with alternatives also matches the path that is written like it.
    wanted = (glob for glob in globs if not glob.startswith("!"))
    patterns = (pattern for glob in wanted for pattern in (*_patterns(glob), tuple(_tidy(glob).split("/"))))
    return tuple(sorted({"/".join(takewhile(lambda name: not _WILD.search(name), names)) for names in patterns}))


@lru_cache(maxsize=1024)
def _patterns(glob: str) -> tuple[tuple[str, ...], ...]:
    found: list[tuple[str, ...]] = []
    for one in _alternatives(glob):
        names = tuple(_tidy(one).split("/"))
        found.append(names if _WILD.search(names[-1]) else (*names, "**"))
    return tuple(found)


def _tidy(glob: str) -> str:
    return "/".join(name for name in glob.split("/") if name not in ("", "."))


def _alternatives(glob: str) -> list[str]:
    """Expand the braces; empty if there are too many alternatives."""
    done: list[str] = []
    todo = [glob]
    while todo:
        one = todo.pop()
        braces = _BRACES.search(one)
        if braces is None:
            done.append(one)
        else:
            todo += [one[: braces.start()] + part + one[braces.end() :] for part in braces[1].split(",")]
        if len(done) + len(todo) > MAX_ALTERNATIVES:
            return []
    return done


def _is_folders(name: str) -> bool:
    return name == "**"


def _name_fits(pattern: str, name: str) -> bool:
    return _match_wildcards(_tokens(pattern), name, _is_star, _character_fits)


def _is_star(element: str) -> bool:
    return element == "*"


@lru_cache(maxsize=4096)
def _tokens(pattern: str) -> tuple[str, ...]:
    """Split a name's pattern into stars, question marks, sets and plain characters."""
    found: list[str] = []
    at = 0
    while at < len(pattern):
        chosen = _SET.match(pattern, at)
        token = pattern[at] if chosen is None else chosen[0]
        found.append(token)
        at += len(token)
    return tuple(found)


def _character_fits(token: str, character: str) -> bool:
    chosen = _SET.fullmatch(token)
    if chosen is None:
        return token in ("?", character)
    return _is_in_set(chosen[2], character) != bool(chosen[1])


def _is_in_set(members: str, character: str) -> bool:
    at = 0
    while at < len(members):
        if members[at + 1 : at + 2] == "-" and at + 2 < len(members):
            if members[at] <= character <= members[at + 2]:
                return True
            at += 3
        else:
            if members[at] == character:
                return True
            at += 1
    return False


def _match_wildcards(
    pattern: Sequence[P], items: Sequence[T], is_any: Callable[[P], bool], fits: Callable[[P, T], bool]
) -> bool:
    """Match items against a pattern in which some elements stand for any number of them."""
    at = here = 0
    star, resume = -1, 0
    while here < len(items):
        if at < len(pattern) and is_any(pattern[at]):
            star, resume = at, here
            at += 1
        elif at < len(pattern) and fits(pattern[at], items[here]):
            at, here = at + 1, here + 1
        elif star >= 0:
            resume += 1
            at, here = star + 1, resume
        else:
            return False
    return all(is_any(each) for each in pattern[at:])
