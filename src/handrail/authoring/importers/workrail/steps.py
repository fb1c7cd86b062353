"""Translates WorkRail-style steps to native ones."""

from typing import TypeAlias

from handrail.authoring.importers.coven.go_syntax import Untranslatable
from handrail.authoring.importers.coven.go_templates import literal
from handrail.authoring.importers.names import PromptFiles, UniqueNames, make_identifier, step_name, value_name
from handrail.authoring.importers.nodes import data_of, flag_of, line_of, map_of, maps_of, text_of
from handrail.authoring.importers.result import Notes
from handrail.authoring.importers.workrail.assessments import Assessments
from handrail.authoring.importers.workrail.conditions import Lookup, translate_condition, variables
from handrail.authoring.importers.workrail.context import Context, SourceStep, words_of
from handrail.authoring.importers.workrail.keys import (
    LOOP_CONTRACT,
    NOTED,
    STEP_KEYS,
    find_dropped_entries,
    join_conditions,
    order_keys,
    pairs,
)
from handrail.authoring.importers.workrail.loops import rounds_of
from handrail.authoring.importers.workrail.prompts import PromptScope, render
from handrail.authoring.importers.workrail.proofs import Criteria, messages
from handrail.language.expressions.syntax import Expression
from handrail.language.expressions.unparse import unparse
from handrail.model.source import Entry, Mapping, Node
from handrail.model.workflow.values import JsonValue

_Data: TypeAlias = dict[str, JsonValue]


class WorkrailSteps:
    """Translates the steps of one file."""

    def __init__(self, root: Mapping, path: str, notes: Notes, slots: frozenset[str] = frozenset()) -> None:
        self.prompts = PromptFiles()
        self._path = path
        self._notes = notes
        self._taken = UniqueNames()
        self._by_id = {text_of(step.get("id")) or "": step for step in maps_of(root.get("steps"))}
        self._places: list[SourceStep] = []
        steps = maps_of(root.get("steps"))
        bodies = {text_of(step.get("body")) for step in steps}
        self._roots = [self._place(step, None) for step in steps if (text_of(step.get("id")) or "") not in bodies]
        self.context = Context(self._places, lambda place, message: self._note("changed", place.node, message))
        self.assessments = Assessments(root, self._note)
        self._functions = pairs(root.get("functionDefinitions"), "name", "definition")
        self._slots = slots
        self._data: dict[str, _Data] = {}
        self._spoke = False

    def run(self) -> list[JsonValue]:
        """Translate all steps."""
        made = [data for place in self._roots for data in self._step(place)]
        for place in self._places:
            if place.returns and place.name in self._data:
                self._finish(place, self._data[place.name])
        return [order_keys(data) for data in made]

    def _place(self, step: Mapping, loop: SourceStep | None) -> SourceStep:
        given = text_of(step.get("id")) or ""
        name = self._taken.take(step_name(given or "step"))
        if name != given:
            self._note("changed", step, f"the step '{given}' is now called '{name}'")
        place = SourceStep(step, name, loop, words_of(step), order=len(self._places))
        self._places.append(place)
        for inner in self._body(step):
            self._place(inner, place)
        return place

    def _body(self, step: Mapping) -> tuple[Mapping, ...]:
        body = step.get("body")
        named = self._by_id.get(text_of(body) or "") if body is not None else None
        return (named,) if named is not None and named is not step and "body" not in named else maps_of(body)

    def _step(self, place: SourceStep) -> list[_Data]:
        step = place.node
        for entry in step:
            if entry.name not in STEP_KEYS:
                hint = NOTED.get(entry.name, "it has no counterpart")
                self._note("lost", entry, f"the key '{entry.name}' of a step was left out: {hint}")
        for entry, key in find_dropped_entries(step):
            self._note("lost", entry, f"'{entry.name}' in '{key}' was left out")
        data: _Data = {"name": place.name}
        if title := text_of(step.get("title")):
            data["description"] = title
        self._translate_when(place, data)
        before, after = self._confirmation(place, data)
        return [*before, *self._translate_kind(place, data), *after]

    def _translate_kind(self, place: SourceStep, data: _Data) -> list[_Data]:
        step = place.node
        if "loop" in step or "body" in step:
            return self._loop(place, data)
        if (call := map_of(step.get("templateCall")) or (step if "templateId" in step else None)) is not None:
            return [self._use(call, data)]
        if "parallelDelegations" in step:
            return self._delegations(place, data)
        return [self._agent(place, data)]

    def _translate_when(self, place: SourceStep, data: _Data) -> None:
        node = place.node.get("runCondition")
        if node is None:
            return
        try:
            data["when"] = self._expression(node, place)
        except Untranslatable as problem:
            data["when"] = False
            message = f"the runCondition cannot be translated ({problem}); the step never runs until you write `when`"
            self._note("lost", node, message)

    def _expression(self, node: Node, place: SourceStep, *, after: bool = False) -> str | bool:
        text = unparse(translate_condition(node, self._lookup(place, after=after)))
        return text == "true" if text in ("true", "false") else text

    def _lookup(self, place: SourceStep, *, after: bool = False) -> Lookup:
        def lookup(variable: str, like: object) -> Expression:
            return self.context.value(variable, place, like, after=after)

        return lookup

    def _confirmation(self, place: SourceStep, data: _Data) -> tuple[list[_Data], list[_Data]]:
        """Build the approval before a step, or after it where only the step itself can decide whether it is needed."""
        node = place.node.get("requireConfirmation")
        if node is None or flag_of(node) is False:
            return [], []
        inner = map_of(node)
        condition = inner.get("condition") if inner is not None and "kind" in inner else inner
        after = any(self.context.is_own(variable, place) for variable in variables(condition))
        conditions = [data["when"]] if "when" in data else []
        conditions += self._condition(condition, place, after=after)
        title = text_of(place.node.get("title")) or place.name
        where = "after" if after else "before"
        approval: _Data = {
            "name": self._taken.take(step_name(f"confirm-{place.name}")),
            "type": "approval",
            "message": f"Confirm {where} this step: {title}".replace("${", "$${"),
        }
        if conditions:
            approval["when"] = join_conditions(conditions)
        self._note(
            "changed", node, f"'requireConfirmation' is now the approval step '{approval['name']}' {where} this one"
        )
        return ([], [approval]) if after else ([approval], [])

    def _condition(self, node: Node | None, place: SourceStep, *, after: bool = False) -> list[JsonValue]:
        if node is None:
            return []
        try:
            return [self._expression(node, place, after=after)]
        except Untranslatable as problem:
            self._note("lost", node, f"a condition cannot be translated ({problem}); it is assumed to be true")
            return []

    def _agent(self, place: SourceStep, data: _Data) -> _Data:
        step = place.node
        self._data[place.name] = data
        if self._spoke:
            data["session"] = "continue"
        self._spoke = True
        prompt = render(step, self._scope(place))
        self._contract(place, data)
        if role := text_of(step.get("agentRole")):
            data["role"] = role
        data.update(self.assessments.ask(step, place.name))
        prompt += self._proofs(place, data)
        data["prompt"] = self.prompts.add(place.name, prompt)
        return data

    def _scope(self, place: SourceStep) -> PromptScope:
        return PromptScope(
            self._lookup(place),
            lambda variable: self.context.is_known(variable, place),
            self._slots,
            self._functions,
            lambda line, message: self._notes.add_lost(self._path, line, message),
        )

    def _contract(self, place: SourceStep, data: _Data) -> None:
        contract = map_of(place.node.get("outputContract"))
        if contract is None:
            return
        reference = text_of(contract.get("contractRef"))
        if flag_of(contract.get("required")) is False:
            self._note(
                "changed", contract, f"'required' is false for '{reference}'; in Handrail the result is required"
            )
        place.contract = reference or ""
        data.setdefault("output", value_name(make_identifier(place.name)))
        data["returns"] = place.contract or "json"

    def _proofs(self, place: SourceStep, data: _Data) -> str:
        checks: list[JsonValue] = []
        added = ""
        criteria = place.node.get("validationCriteria")
        if criteria is not None:
            told = [f"- {literal(text)}" for text in messages(criteria)]
            added = "\n## What the result must show\n\n" + "\n".join(told) + "\n" if told else ""
            output = value_name(make_identifier(place.name))
            checks += Criteria(output, self._lookup(place), self._note).checks(criteria)
            if checks:
                data.setdefault("output", output)
        verification = map_of(place.node.get("verification"))
        if verification is not None and (command := text_of(verification.get("command"))):
            checks.append({"passes": command})
        if verification is not None and (prompt := text_of(verification.get("prompt"))):
            added += f"\n## Verification\n\n{literal(prompt)}\n"
        if checks:
            data["done_when"] = checks
        return added

    def _loop(self, place: SourceStep, data: _Data) -> list[_Data]:
        places = [each for each in self._places if each.loop is place]
        body = [(each.order, made) for each in places for made in self._step(each)]
        if not body:
            self._note("lost", place.node, f"the loop '{place.name}' has no known steps and was left out")
            return []
        data["type"] = "loop"
        rounds = rounds_of(place, places, self.context, self._note)
        for order, made in body:
            guards: list[JsonValue] = [text for after, text in rounds.guards if order > after]
            if guards:
                made["when"] = join_conditions([*([made["when"]] if "when" in made else []), *guards])
        data.update(rounds.keys)
        data["steps"] = [made for _, made in body]
        return [data]

    def _use(self, call: Mapping, data: _Data) -> _Data:
        template = text_of(call.get("templateId")) or ""
        data["use"] = template or "unknown"
        arguments = map_of(call.get("args"))
        if arguments is not None and arguments.entries:
            data["input"] = {value_name(entry.name): data_of(entry.value) for entry in arguments}
        self._notes.add_translated(
            self._path, line_of(call), f"the template '{template}' is now `use`, which inserts its steps"
        )
        return data

    def _delegations(self, place: SourceStep, data: _Data) -> list[_Data]:
        made: list[_Data] = []
        for each in maps_of(place.node.get("parallelDelegations")):
            name = self._taken.take(step_name(f"{place.name}-{len(made) + 1}"))
            inputs: _Data = {"goal": text_of(each.get("goal")) or "${goal}"}
            inputs.update({value_name(entry.name): data_of(entry.value) for entry in map_of(each.get("args")) or ()})
            step: _Data = {"name": name, "workflow": text_of(each.get("workflowId")) or "unknown"}
            when = [data["when"]] if "when" in data else []
            when += self._condition(each.get("runCondition"), place)
            made.append({**step, "input": inputs, **({"when": join_conditions(when)} if when else {})})
            for entry in each:
                if entry.name not in ("workflowId", "goal", "args", "runCondition"):
                    self._note("lost", entry, f"the key '{entry.name}' of a delegation was left out")
        self._note("changed", place.node, "parallel delegations are now workflow steps that run one after the other")
        synthesis = map_of(place.node.get("synthesis"))
        if synthesis is not None:
            joined = SourceStep(synthesis, place.name, place.loop, order=place.order + 0.5)
            self._places.append(joined)
            made.append(self._agent(joined, data))
        return made

    def _finish(self, place: SourceStep, data: _Data) -> None:
        data.setdefault("output", value_name(make_identifier(place.name)))
        decision = {"decision": "continue | stop"} if place.contract == LOOP_CONTRACT else {}
        data["returns"] = {**decision, **place.returns}
        if decision:
            message = "wr.loop_control is now the field 'decision' of the result; the prompt may say otherwise"
            self._note("changed", place.node, message)
        elif place.contract:
            message = f"the outputContract '{place.contract}' was left out, since the result contains variables"
            self._note("lost", place.node, message)
        checks = data.get("done_when")
        if not isinstance(checks, list):
            return
        kept: list[JsonValue] = [each for each in checks if isinstance(each, dict) and "expect" not in each]
        if len(kept) < len(checks):
            message = "rules of validationCriteria about the text were left out, since the result is now a record"
            self._note("lost", place.node, message)
        data["done_when"] = kept
        if not kept:
            del data["done_when"]

    def _note(self, fate: str, at: Node | Entry, message: str) -> None:
        add = self._notes.add_lost if fate == "lost" else self._notes.add_changed
        add(self._path, line_of(at), message)
