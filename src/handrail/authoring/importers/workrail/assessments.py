"""Converts WorkRail-style assessments to named ones; consequences move from the step to the assessment."""

import re
from collections.abc import Callable
from typing import TypeAlias

from handrail.authoring.importers.nodes import flag_of, map_of, maps_of, text_of, texts_of
from handrail.model.source import Mapping, Node
from handrail.model.workflow.values import JsonValue

MORE_TRIES = 9
"""A step of the JSON form may be refused ten times before a person is asked."""
READY_MADE = "wr.assessments."
_MAX_PURPOSE_LENGTH = 256
_MAX_GUIDANCE_LENGTH = 512
_Data: TypeAlias = dict[str, JsonValue]
_Note: TypeAlias = Callable[[str, Node, str], None]


class Assessments:
    """Collects the assessments of a file by name, each with the consequences of its levels."""

    def __init__(self, root: Mapping, note: _Note) -> None:
        self._note = note
        self._declared: dict[str, _Data] = {}
        self._names: dict[str, str] = {}
        for each in maps_of(root.get("assessments")):
            self._declare(each)
        self._asked: dict[str, _Data] = {}

    def definitions(self) -> _Data:
        """Return every assessment by its name, including those that no step asks for."""
        return {**{self._names[key]: each for key, each in self._declared.items()}, **self._asked}

    def ask(self, step: Mapping, name: str) -> _Data:
        """Return the keys with which the step of that name asks for its judgments."""
        names: list[JsonValue] = []
        sent_back = False
        for wanted in dict.fromkeys(texts_of(step.get("assessmentRefs"))):
            follow_up = self._follow_up(step, wanted)
            found = self._variant(wanted, follow_up, name, step)
            if found:
                names.append(found)
                sent_back = sent_back or bool(follow_up)
        if not names:
            return {}
        made: _Data = {"assess": names[0] if len(names) == 1 else names}
        return {**made, "retry": MORE_TRIES} if sent_back else made

    def _declare(self, node: Mapping) -> None:
        given = text_of(node.get("id")) or ""
        name = re.sub(r"[^a-z0-9_.-]+", "-", given.lower()).strip("-")
        name = name if name[:1].isalpha() else f"assessment-{name}".strip("-")
        dimensions = self._dimensions(node)
        if given in self._declared or name in self._names.values():
            self._note("lost", node, f"the assessment '{given}' is declared twice; the second was left out")
        elif not dimensions:
            self._note("lost", node, f"the assessment '{given}' has no dimensions and was left out")
        else:
            if name != given:
                self._note("changed", node, f"the assessment '{given}' is now called '{name}'")
            purpose = self._cut(text_of(node.get("purpose")) or "", _MAX_PURPOSE_LENGTH, node, "purpose")
            made: _Data = {"purpose": purpose} if purpose else {}
            made |= {"rationale": "optional"} if flag_of(node.get("rationaleRequired")) is False else {}
            self._names[given] = name
            self._declared[given] = {**made, "dimensions": dimensions}

    def _dimensions(self, node: Mapping) -> _Data:
        made: _Data = {}
        for each in maps_of(node.get("dimensions")):
            name = (text_of(each.get("id")) or "").lower().replace(" ", "_").strip("_-")
            levels: list[JsonValue] = list(dict.fromkeys(texts_of(each.get("levels"))))
            if not re.fullmatch(r"[a-z][a-z0-9_-]*", name) or len(levels) < 2:
                self._note("lost", each, f"the dimension '{name}' needs an id that starts with a letter and two levels")
            elif name in made:
                self._note("lost", each, f"the dimension '{name}' appears twice; the second was left out")
            else:
                purpose = self._cut(text_of(each.get("purpose")) or name, _MAX_PURPOSE_LENGTH, each, "purpose")
                made[name] = {"purpose": purpose, "levels": levels}
                if flag_of(each.get("required")) is False:
                    made[name] = {"purpose": purpose, "levels": levels, "required": False}
        return made

    def _variant(self, wanted: str, follow_up: _Data, step_name: str, step: Mapping) -> str:
        """Find the name of an assessment with these consequences; steps with different ones get their own variant."""
        if wanted not in self._declared:
            if not wanted.startswith(READY_MADE):
                self._note("lost", step, f"the assessment '{wanted}' is not declared")
                return ""
            if follow_up:
                message = (
                    f"the consequences of the built-in '{wanted}' were left out; declare the assessment to keep them"
                )
                self._note("lost", step, message)
                follow_up.clear()
            return wanted
        name, whole = self._names[wanted], {**self._declared[wanted], **follow_up}
        if self._asked.setdefault(name, whole) == whole:
            return name
        own = f"{name}-{step_name.lower()}"
        self._note("changed", step, f"'{wanted}' has other consequences here, so it is now the assessment '{own}'")
        self._asked[own] = whole
        return own

    def _follow_up(self, step: Mapping, wanted: str) -> _Data:
        levels: dict[str, None] = {}
        guidance: dict[str, None] = {}
        for each in maps_of(step.get("assessmentConsequences")):
            when, effect = map_of(each.get("when")), map_of(each.get("effect"))
            level = text_of(when.get("anyEqualsLevel")) if when else None
            if when is None or level is None or effect is None:
                self._note("lost", each, "a consequence of the assessment names no level or no effect")
            elif text_of(when.get("forAssessment")) in (None, wanted) and level in self._levels(wanted):
                levels[level] = None
                guidance[text_of(effect.get("guidance")) or ""] = None
        if not levels:
            return {}
        if len(guidance) > 1:
            message = f"the levels {', '.join(levels)} of '{wanted}' now have one guidance, which combines theirs"
            self._note("changed", step, message)
        text = self._cut(" ".join(filter(None, guidance)), _MAX_GUIDANCE_LENGTH, step, "guidance")
        made: _Data = {"follow_up_when": list(levels)}
        return {**made, "guidance": text} if text else made

    def _levels(self, wanted: str) -> set[JsonValue]:
        if wanted not in self._declared:
            return {"low", "medium", "high"}
        dimensions = self._declared[wanted]["dimensions"]
        each_of = dimensions.values() if isinstance(dimensions, dict) else ()
        lists = (each["levels"] for each in each_of if isinstance(each, dict))
        return {level for levels in lists if isinstance(levels, list) for level in levels if isinstance(level, str)}

    def _cut(self, text: str, most: int, at: Mapping, what: str) -> str:
        if len(text) > most:
            self._note("changed", at, f"the {what} of the assessment was cut to {most} characters")
        return text[:most]
