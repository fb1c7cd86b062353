"""Guided workflows as texts, and what their agents say."""

import json
from typing import Any

from handrail.model.history.events import StepRefused
from support.runtime.room import of_kind
from support.runtime.steps_room import StepsRoom

Json = dict[str, Any]


def flow(*steps: Json, **keys: Any) -> str:
    basis: Json = {"id": "flow", "name": "Flow", "description": "A flow.", "version": "1.0.0"}
    return json.dumps({**basis, **keys, "steps": list(steps)}, indent=1)


def step(name: str, **keys: Any) -> Json:
    return {"id": name, "title": name.title(), "prompt": f"Do {name}.", **keys}


def notes(text: str = "done", **more: Any) -> Json:
    return {"output": {"notesMarkdown": text, **more}}


def refusals(room: StepsRoom, run: str) -> list[tuple[str, list[str]]]:
    found = of_kind(room.log, run, StepRefused)
    return [(each.address, [short.code for short in each.shortfalls]) for each in found]
