"""Builds the command specs that a step's intent records: values are evaluated and stay separate from the script."""

from collections.abc import Mapping

from handrail.engine.state.scope import evaluate_expression, render_value, value_of
from handrail.model.history.run_state import RunState
from handrail.model.workflow.actions import Checks, GateAction, ScriptAction
from handrail.model.workflow.plan import Step
from handrail.model.workflow.values import Command, JsonValue, NamedValue

Spec = dict[str, JsonValue]
NamedCommands = tuple[tuple[str, Command], ...]


def checks_of(state: RunState, checks: Checks) -> NamedCommands:
    """Return the named commands of checks; the project's own are taken as pinned at the start of the run."""
    if checks.project:
        return tuple((name, Command(script)) for name, script in sorted(state.checks.items()))
    return tuple((each.name, each.command) for each in checks.commands)


def script_spec(state: RunState, step: Step, action: ScriptAction, own: Mapping[str, JsonValue]) -> Spec:
    """Build the spec of the command that a script step runs."""
    command = action.command if action.project is None else Command(getattr(state.project, action.project))
    spec = _spec(state, step, (("command", command),), action.env, own)
    if action.parse_json:
        spec["json"] = True
    if not action.repeatable:
        spec["repeatable"] = False
    if action.on_success is not None:
        spec["exit_loop"] = True
    return spec


def gate_spec(state: RunState, step: Step, named: NamedCommands, own: Mapping[str, JsonValue]) -> Spec:
    """Build the spec of the commands that a gate, or a step with checks, runs."""
    env = step.action.env if isinstance(step.action, GateAction) else ()
    return _spec(state, step, named, env, own)


def _spec(
    state: RunState, step: Step, named: NamedCommands, env: tuple[NamedValue, ...], own: Mapping[str, JsonValue]
) -> Spec:
    """Build a spec that leaves out default values, because every step is recorded with its spec."""
    spec: Spec = {"commands": [_command(state, name, command, own) for name, command in named]}
    if env:
        spec["env"] = {each.name: render_value(value_of(each.value, state, own)) for each in env}
    if step.timeout is not None:
        spec["timeout"] = step.timeout
    return spec


def _command(state: RunState, name: str, command: Command, own: Mapping[str, JsonValue]) -> JsonValue:
    bindings = command.bindings
    if not bindings:
        return {"name": name, "script": command.script}
    return {
        "name": name,
        "script": command.script,
        "values": {each.variable: render_value(evaluate_expression(each.value, state, own)) for each in bindings},
        "files": [each.variable for each in bindings if each.as_file],
        "sources": {each.variable: each.value.source for each in bindings},
    }
