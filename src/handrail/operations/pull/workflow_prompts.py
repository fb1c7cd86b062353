"""Workflows as commands of a connected agent: what a person can choose there, and the text that then starts one.

Only what may be started is offered: text of an untrusted repository is in no list and in no prompt.
"""

import json
import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from handrail.engine.text.untrusted_text import clean, code, fence_code, first_line
from handrail.errors import NotFound, Untrusted
from handrail.frozen import frozen
from handrail.model.suggest import did_you_mean
from handrail.operations.pull.call_context import CallContext
from handrail.operations.pull.list_workflows import describe_workflow, list_offers
from handrail.operations.pull.workflow_offer import InputOffer, WorkflowOffer
from handrail.sources.tiers import Location

GOAL = "goal"
MAX_DESCRIPTION = 300
"""The number of characters of a description in a list of commands."""
_TYPED = """\
- Some programs split what a person types after a command at its spaces. Where you can see the whole text, use it in
  place of the values above: as a whole it is the `goal`, except for what is clearly the value of another argument."""
_HERE = "the absolute path of the repository that you work in"

WALK = """\
Then continue until an answer says that the workflow is complete:

1. Do what the pending step says, with your own tools, and nothing of the steps after it.
2. Hand it in: call `continue_workflow` with the `continueToken` of the last answer, intent `advance`, and the output
   that the step asks for. Report what actually happened, including failures; Handrail checks it.
3. `blocked` means that the step is not done. The answer says what is missing and what it must look like: do that,
   then hand in the same step again. Do not skip it, and do not claim what was not done.
4. What your user has to decide (an approval, a question, a confirmation) is for your user alone: say what is asked,
   and wait. Never answer for them, and never call `handrail approve`, `answer`, `trust` or the like yourself.
5. While Handrail runs a check or a script itself, check again with intent `rehydrate`. If you lose the token, find
   the run with `resume_session`.

If the start is refused, tell your user the reason and the command that the answer names, and stop there: do not do
the work without the workflow."""


@frozen
class PromptArgument:
    """What a person may pass with a command."""

    name: str
    description: str
    needed: bool = False
    """Whether the workflow cannot be started without it; the agent asks for what is missing."""
    choices: tuple[str, ...] = ()


@frozen
class WorkflowPrompt:
    """A workflow as a command."""

    name: str
    title: str
    description: str
    arguments: tuple[PromptArgument, ...]


def workflow_prompts(ctx: CallContext, workspace: Path | None) -> tuple[WorkflowPrompt, ...]:
    """List a command for each workflow that can be started, as seen from a folder."""
    return tuple(_prompt(each) for each in list_startable(ctx, workspace))


def list_startable(ctx: CallContext, workspace: Path | None) -> tuple[WorkflowOffer, ...]:
    """List the workflows that can be started now; without a folder, only the user's own and the built-in ones."""
    found = list_offers(ctx, place_seen_from(ctx, workspace)).workflows
    return tuple(each for each in found if not each.distrust and each.about.valid)


def place_seen_from(ctx: CallContext, workspace: Path | None) -> Location:
    """Return the place of a folder; without one, a place that belongs to no repository."""
    if workspace is not None:
        return ctx.place(workspace)
    return replace(ctx.place(Path.home()), repository=None, cwd=None)


def find_startable(ctx: CallContext, workspace: Path | None, name: str) -> WorkflowOffer:
    """Find a workflow by its name; if it cannot be started, raise what a person can do about it."""
    seen = ctx.catalogue.view_from(place_seen_from(ctx, workspace))
    found = seen.winner(name)
    about = None if found is None else describe_workflow(seen, found)
    if about is None or not (about.about.valid or about.distrust):
        known = [each.about.name for each in list_startable(ctx, workspace)]
        message = (
            f"there is no workflow '{first_line(clean(name), 80)}' that can be started here{did_you_mean(name, known)}"
        )
        raise NotFound(
            message, next_step="list_workflows shows all workflows, and what is wrong with those that cannot be started"
        )
    if about.distrust:
        # Nothing of its text: the name is the one that was asked for.
        message = f"the workflow '{first_line(clean(name), 80)}' needs your trust before it can be started"
        raise Untrusted(message, next_step=f"read it, then: handrail trust {shlex.quote(name)}")
    return about


def _prompt(each: WorkflowOffer) -> WorkflowPrompt:
    description = first_line(each.about.description, MAX_DESCRIPTION) or f"Start the workflow {each.about.name}."
    return WorkflowPrompt(each.about.name, clean(each.title), clean(description), _arguments(each))


def _arguments(each: WorkflowOffer) -> tuple[PromptArgument, ...]:
    """List the arguments, the goal first: clients that take words in their order then need nothing else."""
    by_name = {one.name: one for one in each.inputs}
    takes = next((one for one in each.inputs if one.takes_goal), by_name.get(GOAL))
    words = f": {takes.description}" if takes is not None and takes.description else ""
    goal = PromptArgument(GOAL, clean(f"What you want to achieve{words}"), needed=takes is not None and takes.required)
    others = [one for one in each.inputs if one is not takes]
    return (goal, *(_argument(one) for one in sorted(others, key=lambda one: not one.required)))


def _argument(each: InputOffer) -> PromptArgument:
    words = f"{each.type}, {'required' if each.required else 'optional'}"
    about = f"{words}: {each.description}" if each.description else words
    return PromptArgument(each.name, clean(about), each.required, each.choices)


def prompt_text(ctx: CallContext, workspace: Path | None, name: str, given: Mapping[str, str]) -> str:
    """Write the prompt that makes a connected agent start a workflow with what a person passed, and complete it."""
    about = find_startable(ctx, workspace, name)
    arguments = _arguments(about)
    known = {each.name for each in arguments}
    unknown = sorted(set(given) - known)
    if unknown:
        hint = f"arguments of this workflow: {', '.join(sorted(known))}"
        raise NotFound(
            f"the workflow '{about.about.name}' has no argument '{first_line(clean(unknown[0]), 80)}'", next_step=hint
        )
    said = {key: text for key, text in given.items() if text.strip()}
    call = _call(about, workspace, said)
    described = first_line(about.about.description, MAX_DESCRIPTION)
    words = f": {described}" if described else ""
    parts = [
        f"Your user wants you to carry out the Handrail workflow {code(about.about.name)}{words}",
        f"Start it now. Call the tool `start_workflow` of Handrail, once, with:\n\n{fence_code(call, 'json')}",
        *_preparation_lines(arguments, said, workspace),
        WALK,
    ]
    return clean("\n\n".join(parts))


def _call(about: WorkflowOffer, workspace: Path | None, said: Mapping[str, str]) -> str:
    goes = {one.name for one in about.inputs if one.name == GOAL and not one.takes_goal}
    context = {key: text for key, text in said.items() if key != GOAL or GOAL in goes}
    arguments: dict[str, object] = {
        "workflowId": about.about.name,
        "workspacePath": str(workspace) if workspace is not None else f"<{_HERE}>",
        "goal": said.get(GOAL, "<what your user wants to achieve>"),
    }
    return json.dumps(arguments | ({"context": context} if context else {}), indent=2, ensure_ascii=False)


def _preparation_lines(
    arguments: tuple[PromptArgument, ...], said: Mapping[str, str], workspace: Path | None
) -> list[str]:
    """List what is still open before the call."""
    if GOAL in said:
        lines = [_TYPED]
    else:
        lines = ["- `goal`: take it from this conversation if it is clear there; otherwise ask your user first."]
    if workspace is None:
        lines.append(f"- `workspacePath`: {_HERE}.")
    else:
        lines.append(f"- `workspacePath`: if you work in another repository, {_HERE}.")
    lacking = [each for each in arguments if each.needed and each.name not in said and each.name != GOAL]
    lines += [
        f"- `context.{each.name}` is required ({each.description}): ask your user, do not guess." for each in lacking
    ]
    return ["\n".join(lines)]
