"""Finds missing programs that a run will need, before its first agent costs anything.

Only certain cases count: the first word of a command that is a plain name, of a step that is sure to come, on a PATH
that neither the step nor an agent changes. A script may install what later steps need, so the search ends with it.
"""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from handrail.engine.composite.command_spec import checks_of
from handrail.errors import ProcessFault
from handrail.frozen import frozen
from handrail.model.history.run_state import RunState
from handrail.model.parts import parts
from handrail.model.workflow.actions import (
    CallAction,
    DynamicAction,
    EndAction,
    GateAction,
    GroupAction,
    LoopAction,
    ScriptAction,
    Times,
    Until,
    body,
)
from handrail.model.workflow.plan import Plan, Step
from handrail.model.workflow.proofs import CheckProof, CommandProof
from handrail.model.workflow.values import Prompt

_PLAIN = re.compile(r"((?:[A-Za-z_]\w*=[\w./:@%+,-]*[ \t]+)*)([A-Za-z0-9_][\w.+-]*)((?:[ \t].*)?)")
_AMBIGUOUS = re.compile(r"[|;&()`]")
"""Characters by which a command may get another exit code than that of its first program, or define that program."""
_OF_THE_SHELL = re.compile(
    r"alias|bg|bind|break|builtin|caller|case|cd|command|compgen|complete|compopt|continue|coproc|declare|"
    r"dirs|disown|do|done|echo|elif|else|enable|esac|eval|exec|exit|export|false|fc|fg|fi|for|function|"
    r"getopts|hash|help|history|if|jobs|kill|let|local|logout|mapfile|popd|printf|pushd|pwd|read|"
    r"readarray|readonly|return|select|set|shift|shopt|source|suspend|test|then|time|times|trap|true|type|"
    r"typeset|ulimit|umask|unalias|unset|until|wait|while"
)
_CHANGES_PROGRAMS = ScriptAction | EndAction | CallAction | DynamicAction
"""After these it is not certain which steps come, or what is installed by then."""
_NOT_FOUND = (126, 127)


@frozen
class RequiredProgram:
    """A program that a step starts."""

    address: str
    program: str
    script: str


def require_programs(plan: Plan, state: RunState, variables: Mapping[str, str]) -> None:
    """Refuse to go on to the first agent of a run where a program is missing that the run is sure to need."""
    search = _Search(state, _path(variables, state.workspace), variables)
    if not search.path:
        return
    missing = search.find(plan)
    if missing is None:
        return
    script = " ".join(missing.script.split())
    message = f"step '{missing.address}' needs the program {missing.program}, which was not found: `{script}`"
    hint = "no agent has been called yet; install it, then resume, or fix the command and run the workflow again"
    raise ProcessFault(message, next_step=hint)


def first_program(script: str) -> str | None:
    """Return the program that a script starts first and cannot do without; None where that is not certain."""
    match = _PLAIN.fullmatch(script.replace("\\\n", " ").strip())
    if match is None or "PATH=" in match[1] or _OF_THE_SHELL.fullmatch(match[2]):
        return None
    return None if _AMBIGUOUS.search(match[3].replace("&&", "")) else match[2]


@frozen
class _Search:
    state: RunState
    path: str
    variables: Mapping[str, str]

    def find(self, plan: Plan) -> RequiredProgram | None:
        """Find the first missing program, beginning with the step at which the run stands."""
        prompts: list[str] = []
        for address, step, certain in self._steps(plan):
            prompts += [each.text for each in parts(step, Prompt)]
            for need in self._needs(address, step) if certain else ():
                if self._is_missing(need.program) and not any(_can_install(each, need.program) for each in prompts):
                    return need
            if isinstance(step.action, _CHANGES_PROGRAMS):
                break
        return None

    def _steps(self, plan: Plan) -> Iterator[tuple[str, Step, bool]]:
        at = max(self.state.stack[0].index, 0)
        for number, step in enumerate(plan.steps[at:]):
            yield from _walk(step, "", certain=True, entered=not number)

    def _needs(self, address: str, step: Step) -> Iterator[RequiredProgram]:
        for script in (*self._commands(step), *self._proofs(step)):
            program = first_program(script)
            if program is not None:
                yield RequiredProgram(address, program, script)

    def _commands(self, step: Step) -> Iterator[str]:
        match step.action:
            case ScriptAction(project=None, repeatable=True, env=env) if not any(each.name == "PATH" for each in env):
                yield step.action.command.script
            case GateAction(env=env) if not any(each.name == "PATH" for each in env):
                yield from (command.script for _, command in checks_of(self.state, step.action.checks))
            case _:
                pass

    def _proofs(self, step: Step) -> Iterator[str]:
        checks = {each.name: each.command for each in self.state.project.file_checks}
        for proof in step.done_when:
            if isinstance(proof, CommandProof) and proof.exit not in _NOT_FOUND:
                yield proof.command.script
            elif isinstance(proof, CheckProof):
                yield checks.get(proof.check, "")

    def _is_missing(self, program: str) -> bool:
        return f"BASH_FUNC_{program}%%" not in self.variables and not _is_found(program, self.path)


def _is_found(program: str, path: str) -> bool:
    """Whether a program is in one of the folders of a run's own search path."""
    places = [Path(folder or ".") / program for folder in path.split(os.pathsep)]
    return any(os.access(place, os.X_OK) and place.is_file() for place in places)


def _walk(step: Step, prefix: str, *, certain: bool, entered: bool) -> Iterator[tuple[str, Step, bool]]:
    """Yield a step and those inside it, each with whether it is sure to come."""
    certain = entered or (certain and step.when is None)
    yield prefix + step.name, step, certain
    action = step.action
    sure = isinstance(action, LoopAction) and isinstance(action.over, Until | Times)
    sure = sure or entered or isinstance(action, GroupAction)
    for each in body(action):
        yield from _walk(each, f"{prefix}{step.name}/", certain=certain and sure, entered=False)


def _path(variables: Mapping[str, str], workspace: str) -> str:
    """Return the PATH of commands; empty where it leads into the worktree, in which programs may still be created."""
    entries = variables.get("PATH", "").split(":")
    tree = Path(workspace)
    fixed = all(Path(each).is_absolute() and not Path(each).is_relative_to(tree) for each in entries)
    return ":".join(entries) if fixed and "ENV" not in variables else ""


def _can_install(prompt: str, program: str) -> bool:
    return "install" in prompt.lower() and program in prompt
