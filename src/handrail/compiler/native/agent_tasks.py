"""Lowers a request to an agent: its prompt, and settings from itself, its step and the defaults, in that order."""

from typing import cast, get_args

from handrail.compiler.native.context import Lowering, flag_of, int_of, seconds, text_of, texts_of
from handrail.compiler.native.prompts import OWN_PROMPT, lower_prompt
from handrail.compiler.scope import CURRENT_STEP_WITH_PROMPT
from handrail.frozen import frozen
from handrail.model.source import Mapping, Node, Scalar
from handrail.model.suggest import did_you_mean
from handrail.model.workflow.settings import Access, AgentTask, Budget, Carry, Handoff, HandrailTool, Sandbox
from handrail.model.workflow.types import STRING, Field, RecordType
from handrail.model.workflow.values import Constant, JsonValue, Prompt


@frozen
class RoleSettings:
    """How an agent is asked in a certain role; only the role or its step, not the defaults, may override it."""

    access: Access | None = None
    handoff: Handoff | None = None
    single_turn: bool = False
    max: int = 1
    always_fresh: str | None = None
    """The role that never continues another conversation, as messages name it."""


PLAIN = RoleSettings()
REPEATED = RoleSettings(max=3)


def lower_task(
    work: Lowering, node: Node, step: Mapping | None = None, role_settings: RoleSettings = PLAIN
) -> AgentTask:
    """Lower a prompt in its short or long form to a task for an agent."""
    own = node if isinstance(node, Mapping) else None
    prompt_node = own.get("prompt") if own is not None else node
    prompt = _prompt(work, prompt_node if prompt_node is not None else node)
    layers = [layer for layer in (own, step) if layer is not None]

    def find_in_layers(key: str) -> Node | None:
        return next((layer.entries[key].value for layer in layers if key in layer.entries), None)

    def get(key: str) -> Node | None:
        found = find_in_layers(key)
        return work.defaults.get(key) if found is None else found

    def word(key: str, by_manner: str | None, otherwise: str) -> str:
        found = get(key) if by_manner is None else find_in_layers(key)
        return text_of(found) or by_manner or otherwise

    agent, model = _agent(work, layers)
    handoff = word("handoff", role_settings.handoff, "summary")
    template = _handoff_template(work, get("handoff"), handoff)
    system = get("system_prompt")
    allowed = get("allowed_tools")
    # A role that judges the work of others gets these tools only where the role itself says so.
    judging = None if own is None else own.get("handrail_tools")
    bound: dict[str, JsonValue] = {name: work.bindings[name] for name in sorted(work.bindings)}
    return AgentTask(
        prompt=prompt,
        agent=agent,
        model=model,
        access=cast("Access", word("access", role_settings.access, "edit")),
        session=_session(work, layers, agent, role_settings),
        carry=_carry(layers),
        handoff=cast("Handoff", "none" if handoff.endswith(".md") else handoff),
        handoff_template=template,
        system_prompt=_prompt(work, system) if system is not None else None,
        role=text_of(get("role")),
        after=work.feature_lines,
        single_turn=flag_of(get("single_turn"), default=role_settings.single_turn),
        suppress_thoughts=flag_of(get("suppress_thoughts")),
        no_comment=flag_of(get("no_comment")),
        allowed_tools=tuple(sorted(texts_of(allowed))) if allowed is not None else None,
        disallowed_tools=tuple(sorted(texts_of(get("disallowed_tools")))),
        handrail_tools=_lower_tools(get("handrail_tools") if role_settings.always_fresh is None else judging),
        idle_timeout=seconds(get("idle_timeout")),
        tmux=flag_of(get("tmux")),
        sandbox=_sandbox(get("sandbox")),
        network=_network(get("sandbox")),
        max=int_of(own.get("max") if own is not None else None, role_settings.max),
        budget=lower_budget(own.get("budget") if own is not None and own is not step else None),
        with_values=(("bindings", Constant(bound)),) if bound else (),
    )


def _handoff_template(work: Lowering, node: Node | None, word: str) -> Prompt | None:
    """Lower the template around a prompt, the only place where the prompt itself has a name."""
    if node is None or not word.endswith(".md"):
        return None
    with work.scope.enter_body({"current_step": CURRENT_STEP_WITH_PROMPT}):
        template = _prompt(work, node)
    shown = OWN_PROMPT.findall(template.text)
    if template.text and (not shown or len(shown) != template.text.count("current_step.prompt")):
        message = "a handoff template must contain {{ current_step.prompt }} unchanged: its agent needs the task"
        hint = "write {{ current_step.prompt }} where the task belongs, without filters or conditions"
        work.report.error("handoff-template", message, node, hint)
    return template


def _prompt(work: Lowering, node: Node) -> Prompt:
    """Lower a prompt that may refer to the project's bindings."""
    if not work.bindings:
        return lower_prompt(work, node)
    bound = RecordType(tuple(Field(name, STRING) for name in sorted(work.bindings)))
    with work.scope.enter_body({"bindings": bound}, own={"bindings"}):
        return lower_prompt(work, node)


def _lower_tools(node: Node | None) -> tuple[HandrailTool, ...]:
    known: tuple[HandrailTool, ...] = get_args(HandrailTool)
    if flag_of(node):
        return known
    listed = texts_of(node)
    return tuple(each for each in known if each in listed)


def _sandbox(node: Node | None) -> Sandbox | None:
    said = text_of(node.get("kind") if isinstance(node, Mapping) else node)
    return cast("Sandbox", said) if said in get_args(Sandbox) else None


def _network(node: Node | None) -> bool:
    return flag_of(node.get("network") if isinstance(node, Mapping) else None, default=True)


def _agent(work: Lowering, layers: list[Mapping]) -> tuple[str | None, str | None]:
    """Find agent and model: the nearest layer that names a model decides, and only keys of one layer can conflict."""
    agent: str | None = None
    model: str | None = None
    for layer in (*({entry.name: entry.value for entry in layer} for layer in layers), work.defaults):
        named, _, inline = (text_of(layer.get("agent")) or "").partition("/")
        own = text_of(layer.get("model"))
        if inline and own is not None and own != inline:
            message = f"'agent' specifies the model '{inline}', but 'model' specifies '{own}'"
            work.report.error("conflicting-keys", message, layer["model"], "specify it once")
        if agent is None or named in ("", agent):
            # A model belongs to the agent it was written for; a different agent in a nearer layer does not inherit it.
            model = model or own or inline or None
        agent = agent or named or None
    return agent, model


def _session(work: Lowering, layers: list[Mapping], agent: str | None, role_settings: RoleSettings) -> str:
    node = _session_source(layers)
    text = text_of(node)
    if node is None or text is None or text == "fresh":
        return "fresh"
    if role_settings.always_fresh is not None:
        hint = "leave out 'session': judging its own conversation would make it lenient"
        work.report.error("session-refused", f"{role_settings.always_fresh} always starts fresh", node, hint)
    elif text == "continue":
        for talk in reversed(work.talks):
            if talk.agent == agent:
                return talk.step
        work.report.warning("unknown-session", "there is no earlier step of the same agent to continue", node)
    else:
        # A summary, unlike a conversation, may be passed to any agent.
        return _resolve_session(work, node, text, None if _carry(layers) == "summary" else (agent,))
    return "fresh"


def _session_source(layers: list[Mapping]) -> Node | None:
    node = layers[0].get("session") if layers else None
    return node.get("from") if isinstance(node, Mapping) else node


def _carry(layers: list[Mapping]) -> Carry:
    node = layers[0].get("session") if layers else None
    carry = text_of(node.get("carry")) if isinstance(node, Mapping) else None
    return "summary" if carry == "summary" and text_of(_session_source(layers)) != "fresh" else "conversation"


def _resolve_session(work: Lowering, node: Node, text: str, same: tuple[str | None] | None) -> str:
    steps = {talk.step: talk.agent for talk in work.talks}
    if text not in steps:
        guess = did_you_mean(text, steps)
        hint = "earlier agent steps: " + (", ".join(steps) or "none")
        work.report.error("unknown-session", f"no earlier agent step is called '{text}'{guess}", node, hint)
    elif same is not None and steps[text] != same[0]:
        agent = same[0]
        message = f"step '{text}' uses {steps[text] or 'the default agent'}, but this one uses {agent or 'the default'}"
        hint = f"a conversation cannot move to another agent; a summary can: session: {{from: {text}, carry: summary}}"
        work.report.error("session-refused", message, node, hint)
    return text


def lower_budget(node: Node | None) -> Budget | None:
    """Lower a budget."""
    if not isinstance(node, Mapping):
        return None
    values = {entry.name: entry.value.value for entry in node if isinstance(entry.value, Scalar)}
    return Budget(**values)  # pyright: ignore[reportArgumentType]  # conform has checked names and types
