"""An agent that knows no workflow: it sends notes, and mends what it is told from the answer's own data."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from support.pull.room import Json, Said

Call = Callable[[str, str, list[Any], Json], Said]
"""Completes a step: token, notes, artifacts, context."""


@dataclass(frozen=True)
class Try:
    """One call: the context it brought, and the variables that it was then asked for."""

    context: Json
    asked: list[str] = field(default_factory=list[str])


@dataclass
class Sent:
    """What completed a step in the end."""

    said: Said
    artifacts: list[Json]
    tries: list[Try]
    """All that was sent, the last of it completed the step."""


@dataclass
class GenericClient:
    """Completes steps one after the other; `decide` says whether a loop goes on."""

    call: Call
    decide: Callable[[str], str]
    levels: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """The levels of the dimensions that it was asked for."""

    def complete(self, at: Said, context: Json) -> Sent:
        """Complete the pending step, whatever it takes."""
        address = at.pending["address"]
        notes, artifacts, tries = f"Did {address}.", list[Json](), list[Try]()
        for attempt in range(8):
            said = self.call(at.token, notes, artifacts, context)
            if said.data["kind"] == "ok":
                return Sent(said, artifacts, [*tries, Try(context)])
            missing = {each["pointer"]: wanted(each) for each in said.data["blockers"] if _of_context(each)}
            tries.append(Try(context, list(missing)))
            context = {**context, **missing}
            assert said.data["retryable"], said.text
            assert said.pending["address"] == address
            for blocker in said.data["blockers"]:
                if _of_context(blocker):
                    continue
                if blocker["pointer"] == "notes" or blocker["code"] == "NOT_PROVEN":
                    notes = better(notes, blocker)
                else:
                    artifacts = self._mended(address, artifacts, blocker, attempt)
            at = said
        raise AssertionError(at.text)

    def _mended(self, address: str, artifacts: list[Json], blocker: Json, attempt: int) -> list[Json]:
        if blocker["code"] == "ASSESSMENT_FOLLOWUP_REQUIRED":
            return [{**each, **self._levels(each, attempt)} for each in artifacts]
        made = dict(blocker["example"])
        if made["kind"] == "wr.loop_control":
            made["decision"] = self.decide(address)
        elif made["kind"] == "wr.assessment":
            self.levels |= levels_in(blocker["schema"])
            made |= self._levels(made, -1)
        same = [each for each in artifacts if (each["kind"], each.get("assessmentId")) != _key(made)]
        return [*same, made]

    def _levels(self, artifact: Json, which: int) -> Json:
        """Other levels for an assessment; the last of each is the best by convention."""
        if artifact["kind"] != "wr.assessment":
            return {}
        names = artifact["dimensions"]
        return {"dimensions": {name: {"level": self._level(name, which), "rationale": "seen"} for name in names}}

    def _level(self, name: str, which: int) -> str:
        return self.levels[name][which % len(self.levels[name])]


def _key(artifact: Json) -> tuple[Any, Any]:
    return artifact["kind"], artifact.get("assessmentId")


def levels_in(schema: Json) -> dict[str, list[str]]:
    """The levels of each dimension, read from the schema of its assessment."""
    forms = schema["properties"]["dimensions"]["properties"].items()
    return {
        name: (form["oneOf"][0] if "oneOf" in form else form["properties"]["level"])["enum"] for name, form in forms
    }


def _of_context(blocker: Json) -> bool:
    return blocker["code"] == "MISSING_CONTEXT_KEY"


def wanted(blocker: Json) -> Any:
    """A value for a variable that is missing."""
    return blocker["example"]


def better(notes: str, blocker: Json) -> str:
    """Notes that meet what is asked of them."""
    fix = blocker["suggestedFix"]
    asked = [*re.findall(r"must contain: ([^;]+)", fix), *re.findall(r"wanted: expect: '([^']+)' in \w+", fix)]
    least = [int(each) for each in re.findall(r"(?:at least|\| length >=) (\d+)", fix)]
    lines = [notes, *(each for each in asked if each not in notes)]
    return "\n".join(lines).ljust(max(least, default=0), ".")
