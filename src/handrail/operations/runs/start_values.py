"""What a run takes from its surroundings when it starts: environment variables, its issue, the usual budget."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from handrail.compiler.record_types import ISSUE
from handrail.engine.state.budgets import NAMES
from handrail.engine.state.scope import parse_expression
from handrail.errors import UsageError
from handrail.language.expressions.refs import Ref
from handrail.language.templates.parse import parse_template, template_refs
from handrail.model.names import make_identifier
from handrail.model.parts import parts, walk_steps
from handrail.model.secrets.redaction import Redactor
from handrail.model.workflow.plan import Plan
from handrail.model.workflow.settings import Budget
from handrail.model.workflow.values import Expression, Prompt
from handrail.operations.runs.lifecycle import Request
from handrail.operations.workflows.repository_config import CONFIG, RepositorySettings

Environment = Callable[[Iterable[str]], dict[str, str]]
"""Returns the variables that runs may see, plus those that are named."""


def add_environment(
    request: Request,
    plans: tuple[Plan, ...],
    configured: RepositorySettings | None,
    environment: Environment,
    secret: Redactor,
) -> Request:
    """Return a request with the variables that its workflows read; one that may not be stored or seen is refused."""
    named = () if configured is None or configured.distrust else configured.config.pass_env
    seen, found = environment(named), dict[str, str]()
    for name in sorted({name for plan in plans for name in _variables(plan, seen)}):
        if name not in seen and name in environment((*named, name)):
            message = f"this workflow reads env.{name}, but runs do not get that variable; nothing was started"
            hint = f'add it to {CONFIG}, and trust the file: [agent] pass_env = ["{name}"]'
            raise UsageError(message, next_step=hint)
        if name in seen and secret.text(seen[name]) != seen[name]:
            message = f"this workflow reads env.{name}, which is a secret, and a run stores what it reads permanently"
            raise UsageError(message, next_step=f"read it as ${name} in a command, where it is never stored")
        if name in seen:
            found[name] = seen[name]
    return replace(request, env=found)


def _variables(plan: Plan, seen: Iterable[str]) -> Iterator[str]:
    """Yield the variables that a plan reads; if it does not say which, all that runs see."""
    for ref in _refs(plan):
        if ref.parts[0] == "env":
            yield from ref.parts[1:2] or seen


def require_issue(plans: tuple[Plan, ...], task: str) -> None:
    """Refuse a start without a task if a workflow reads an issue that nobody passes to it."""
    for plan in plans:
        if not task and not any(each.type == ISSUE for each in plan.inputs) and _needs_issue(plan):
            message = f"the workflow '{plan.name}' reads its issue, but none was given; nothing was started"
            raise UsageError(message, next_step=f'describe the issue: handrail run {plan.name} "WHAT TO DO"')


def _needs_issue(plan: Plan) -> bool:
    """Whether a plan reads fields of `issue`, and nowhere tests whether there is one."""
    read = [ref for ref in _refs(plan) if ref.parts[0] == "issue"]
    return bool(read) and not any(ref.is_tested or len(ref.parts) == 1 for ref in read)


def _refs(plan: Plan) -> Iterator[Ref]:
    """Yield what the expressions and prompts of a plan read, except its own inputs and outputs."""
    steps = [step for _, step in walk_steps(plan.steps)]
    own = {make_identifier(each.name) for each in plan.inputs} | {
        make_identifier(step.output) for step in steps if step.output
    }
    for step in steps:
        found = [ref for each in parts(step, Expression) for ref in parse_expression(each.source)[1]]
        for prompt in parts(step, Prompt):
            found += template_refs(parse_template(prompt.text)) if prompt.syntax == "template" else ()
        yield from (ref for ref in found if ref.parts[0] not in own)


def add_budget(request: Request, budgets: Iterable[Budget | None]) -> Request:
    """Return a request that also stays within the usual budgets: the lowest value of each limit counts."""
    given = [each for each in budgets if each is not None]
    if not given:
        return request
    limits = {
        name: float(min(said)) for name in NAMES if (said := [n for e in given if (n := getattr(e, name)) is not None])
    }
    usual = {name: next((said for each in given if (said := getattr(each, name)) is not None), None) for name in _ASIDE}
    return replace(request, allowance=limits, around=_budget({**limits, **usual}))


def _budget(values: dict[str, float | str | None]) -> Budget:
    whole = {name: int(value) for name in ("tokens", "agent_calls") if isinstance(value := values.get(name), float)}
    return Budget(**{**values, **whole})  # pyright: ignore[reportArgumentType]  # each has the type of its field


_ASIDE = ("at_limit", "unknown_price")
