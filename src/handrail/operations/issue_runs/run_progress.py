"""Collects from the log what the comment about a run tells."""

from handrail.engine.issues.progress_text import OpenQuestion, RunProgress, StepLine
from handrail.engine.issues.work_state import WorkState
from handrail.errors import NotFound
from handrail.model.history.events import ApprovalRequested, QuestionAsked
from handrail.model.history.run_state import RunState, StepState
from handrail.model.issues import parse_issue_ref
from handrail.model.parts import parts, walk_steps
from handrail.model.workflow.plan import Plan
from handrail.model.workflow.settings import AgentTask
from handrail.operations.issue_runs.issue_forks import find_runs
from handrail.operations.views.money import price_words
from handrail.operations.views.questions import open_questions
from handrail.operations.views.step_addresses import list_own_states, members, step_status
from handrail.ports.log import Log
from handrail.runtime.event_records import decode_event
from handrail.runtime.history import plan_of, state_of


def collect_progress(log: Log, state: RunState, work: WorkState) -> RunProgress:
    """Collect what the comment about a run tells now."""
    plan = plan_of(log, state.plan)
    quiet = quiet_steps(plan)
    steps = _steps(log, state)
    over = state.status in ("succeeded", "failed", "cancelled")
    last = next((each for _, each, _ in reversed(steps) if each.agent and each.status == "succeeded"), None)
    return RunProgress(
        run=state.run,
        workflow=state.workflow,
        status=state.status,
        steps=tuple(_line(address, step, status, quiet) for address, step, status in steps),
        question=None if over else find_open_question(log, state, work),
        cost=price_words(state.spent),
        branch=state.tree.branch if state.tree is not None and state.tree.owned else "",
        pull_request=find_pull_request(steps),
        result=_result(state, last),
        problem=state.message if state.status in ("failed", "cancelled") else "",
        notes=_notes(work),
    )


def quiet_steps(plan: Plan) -> frozenset[str]:
    """List the steps whose agents' words must not be posted, by name."""
    return frozenset(
        step.name
        for _, step in walk_steps(plan.steps)
        if any(task.suppress_thoughts for task in parts(step.action, AgentTask))
    )


def find_pull_request(steps: "list[tuple[str, StepState, str]]") -> str:
    """Return the address of the pull request that a run opened; empty if there is none."""
    for _, step, _ in reversed(steps):
        output = step.output
        if isinstance(output, dict) and {"number", "url", "branch"} <= output.keys() and output.get("url"):
            return str(output["url"])
    return ""


def find_open_question(log: Log, state: RunState, work: WorkState) -> OpenQuestion | None:
    """Find what a run, or one that it called, waits for a person to decide."""
    ref = parse_issue_ref(state.issue)
    by_comment = ref is None or ref.knows_authors
    for each in open_questions(log, state.run):
        try:
            asking = state_of(log, each)
        except NotFound:
            continue
        asked = asked_event(log, asking)
        alone = asked is None or ref is None or len(find_runs(log, ref, work)) <= 1
        named = "" if alone else f" {state.run}"
        if isinstance(asked, ApprovalRequested):
            revise = (f"/revise{named} WHAT TO CHANGE",) if asked.revise and asked.revisions_left else ()
            answers = (f"/approve{named}", *revise, f"/reject{named}")
            message = asked.message or "approve?"
            command = f"handrail approve {each}"
            answers = answers if by_comment else ()
            return OpenQuestion(kind="approval", step=asked.address, text=message, answers=answers, command=command)
        if isinstance(asked, QuestionAsked):
            command = f'handrail answer {each} "..."'
            answers = (f"/answer{named} YOUR ANSWER",) if by_comment else ()
            return OpenQuestion(
                kind="question", step=asked.address, text=asked.question, answers=answers, command=command
            )
    if state.status != "blocked":
        return None
    text = "\n\n".join(part for part in (state.message, state.next_step) if part)
    return OpenQuestion(kind="blocked", step=state.blocked_at, text=text, command=f"handrail resume {state.run}")


def asked_event(log: Log, state: RunState) -> ApprovalRequested | QuestionAsked | None:
    """Return the event by which a run asks a person; None if it does not."""
    pending = state.pending
    if state.status != "waiting" or pending is None or pending.kind not in ("approval", "question"):
        return None
    found = decode_event(log.read(state.run, after=pending.seq - 1, limit=1)[0])
    return found if isinstance(found, ApprovalRequested | QuestionAsked) else None


def _steps(log: Log, state: RunState) -> "list[tuple[str, StepState, str]]":
    found: list[tuple[str, StepState, str]] = []
    for item, inner in list_own_states(log, members(log, state.run)):
        if item.own or item.run == state.run:
            found += [(f"{item.via}{at}", step, step_status(inner, step)) for at, step in inner.steps.items()]
    return sorted(found, key=lambda each: (each[1].began_at, each[1].began))


def _line(address: str, step: StepState, status: str, quiet: frozenset[str]) -> StepLine:
    name = address.rpartition("/")[2].partition("[")[0].partition("@")[0]
    said = "" if name in quiet or not step.agent else step.summary
    return StepLine(address=address, status=status, attempts=step.attempts, said=said)


def _result(state: RunState, last: StepState | None) -> str:
    if state.status != "succeeded":
        return ""
    said = "" if last is None else last.summary or last.stdout
    return "\n\n".join(part for part in (state.message, said) if part)


def _notes(work: WorkState) -> tuple[str, ...]:
    if not work.paused_until:
        return ()
    return ("Handrail wrote too many replies on this issue; it looks at its comments again after a while.",)
