"""Shell commands: values never become shell text, they travel in environment variables."""

from collections.abc import Callable, Collection

from handrail.language.problems import LanguageError
from handrail.language.shell.names import Names
from handrail.language.shell.scan import Scanner
from handrail.language.shell.syntax import Binding, CompiledCommand

__all__ = ["Binding", "CompiledCommand", "compile_command"]

LONGEST = 100_000
"""Characters of one command."""


def compile_command(text: str, known: Callable[[str], bool], names: Collection[str] = ()) -> CompiledCommand:
    """Replace every `${...}` of ours by a variable; `known` says which root names are ours, `names` lists them."""
    found = Names(text, known, names)
    if len(text) > LONGEST:
        found.report("shell-syntax", f"the command has {len(text)} characters, more than {LONGEST}", 0, 1)
        return CompiledCommand(text, (), tuple(found.problems))
    scanner = Scanner(text, found)
    try:
        scanner.commands()
        scanner.judge.finish()
    except LanguageError as error:
        found.problems.append(error.problem)
    problems = sorted(dict.fromkeys(found.problems), key=lambda problem: problem.start)
    return CompiledCommand("".join(scanner.out), found.bindings, tuple(problems), tuple(dict.fromkeys(found.warnings)))
