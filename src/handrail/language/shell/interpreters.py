"""Programs that read an argument as code: which argument, and how a value is passed to them safely."""

import re
from collections.abc import Iterator, Sequence

from handrail.language.shell.syntax import Word

_FAMILIES: tuple[tuple[str, str], ...] = (
    (r"(ba|da|z|k|mk|a|fi|c|tc)?sh", "sh"),
    (r"busybox", "sh"),
    (r"(python|pypy)[\d.]*", "python"),
    (r"node(js)?|bun", "node"),
    (r"perl[\d.]*", "perl"),
    (r"ruby[\d.]*", "ruby"),
    (r"php[\d.]*", "php"),
    (r"lua(jit)?[\d.]*|Rscript|osascript|expect", "other"),
    (r"[gmn]?awk", "awk"),
    (r"pwsh|powershell", "pwsh"),
    (r"su|sg|script|flock|setpriv", "sh"),
)
_PATTERNS = tuple((re.compile(pattern + r"\Z"), family) for pattern, family in _FAMILIES)

_CODE_FLAGS = {
    "sh": re.compile(r"-\w*c|--command"),
    "python": re.compile(r"-\w*c"),
    "node": re.compile(r"-p?e|-p|--eval|--print"),
    "perl": re.compile(r"-\w*[eE]"),
    "ruby": re.compile(r"-\w*e"),
    "php": re.compile(r"-r|-R|-B|-E|--run"),
    "other": re.compile(r"-e|-c"),
    "awk": re.compile(r"-e|--source"),
    "pwsh": re.compile(r"-c\w*|-C\w*|-e\w*|-E\w*"),
}

_SAFE = {
    "sh": "pass it as an argument: `sh -c 'echo \"$1\"' sh VALUE`",
    "python": "pass it as an argument: `python -c 'import sys; print(sys.argv[1])' VALUE`",
    "node": "pass it as an argument: `node -e 'console.log(process.argv[1])' VALUE`",
    "perl": "pass it as an argument: `perl -e 'print $ARGV[0]' VALUE`",
    "ruby": "pass it as an argument: `ruby -e 'puts ARGV[0]' VALUE`",
    "php": "pass it as an argument: `php -r 'echo $argv[1];' VALUE`",
    "awk": "pass it in the environment: `V=VALUE awk '{ print ENVIRON[\"V\"] }'`",
    "ssh": "send it as input: `printf '%s' VALUE | ssh host 'cat > file'`",
}
_OTHERWISE = "pass it as an argument, or with `env:` as an environment variable, and read it there"

EVERY_ARGUMENT = {
    "eval": "leave out `eval`: `echo VALUE` does not need it",
    "let": "calculate in the placeholder: `n=${x + 1}`",
    "watch": _OTHERWISE,
    "parallel": _OTHERWISE,
}
"""Commands all of whose arguments are code."""

CODE_ARGUMENT = {"ssh": 1, "trap": 0, "rsh": 1}
"""Commands whose arguments are code after this many plain ones."""

WRAPPERS = {
    "exec": 0,
    "command": 0,
    "builtin": 0,
    "nohup": 0,
    "sudo": 0,
    "doas": 0,
    "env": 0,
    "xargs": 0,
    "nice": 0,
    "ionice": 0,
    "setsid": 0,
    "stdbuf": 0,
    "time": 0,
    "timeout": 1,
    "chronic": 0,
    "unbuffer": 0,
}
"""Commands that run the command after them, following this many arguments of their own."""

OPTIONS_WITH_VALUE = {
    "sudo": "ugpCThRrtD",
    "env": "uC",
    "xargs": "nPIdaLsE",
    "nice": "n",
    "ionice": "cnp",
    "timeout": "sk",
    "stdbuf": "ioe",
    "exec": "a",
    "ssh": "pilohFJLRDbcEeImOQSWwB",
    "read": "pdtnNui",
    "mapfile": "dnOsuCc",
    "readarray": "dnOsuCc",
}
"""One-letter options that take the next word as their value."""


def interpreter(text: str) -> str | None:
    """Return the family of a program that can read code from an argument."""
    base = text.rpartition("/")[2]
    for pattern, family in _PATTERNS:
        if pattern.match(base):
            return family
    return None


def code_words(family: str, words: Sequence[Word]) -> Iterator[Word]:
    """Yield the arguments that a program of the family reads as code."""
    flag = _CODE_FLAGS[family]
    expecting = False
    for word in words:
        match = flag.match(word.text)
        if expecting and not (family == "sh" and word.text.startswith("-")):
            yield word
            expecting = False
        elif match is not None:
            # The code may be attached to the flag, as in `perl -e"..."`.
            glued = len(word.text) > match.end()
            expecting = not glued
            if glued:
                yield word
    if family == "awk":
        yield from _awk_program(words)


def _awk_program(words: Sequence[Word]) -> Iterator[Word]:
    rest = list(words)
    while rest and rest[0].text.startswith("-"):
        option = rest.pop(0).text
        if option.startswith("-f"):
            return
        if option in ("-v", "-F") and rest:
            rest.pop(0)
    yield from rest[:1]


def is_shell(words: Sequence[Word]) -> bool:
    """Whether a command is an interpreter that reads its code from standard input."""
    family = interpreter(words[0].text)
    if family not in ("sh", "python", "node", "perl", "ruby", "php"):
        return words[0].text in ("ssh", "at", "batch")
    return all(word.text.startswith("-") for word in words[1:] if word.text not in ("-s", "-")) or any(
        word.text == "-s" for word in words[1:]
    )


def safe_form(family: str) -> str:
    """Describe how a value reaches a program safely; VALUE stands for the placeholder."""
    return _SAFE.get(family, _OTHERWISE)
