"""The texts of the tools as an agent reads them, and a step that asks for everything."""

import re
from textwrap import fill

from support.pull.room import Json, Said, definition, step

RISK: Json = {
    "id": "risk",
    "purpose": "How risky the change is",
    "dimensions": [{"id": "scope", "purpose": "How much it touches", "levels": ["low", "high"]}],
}
FUNCTIONS: list[Json] = [
    {
        "name": "shrink",
        "definition": "Make it smaller without loss.",
        "parameters": [{"name": "what", "type": "string", "required": True}, {"name": "by", "type": "number"}],
    }
]


def read(said: Said) -> str:
    """Give the answer's own item as an agent reads it: the same for every run, long lines wrapped."""
    [own] = [text for text in said.texts if "continue_workflow`:\n" in text or "The workflow is" in text]
    placed = re.sub(r"own folder, \S+:", "own folder, FOLDER:", own)
    return wrapped(re.sub(r"c[tk]_[\w-]+", "TOKEN", placed))


def wrapped(text: str) -> str:
    return "\n".join(fill(line, 110, break_long_words=False) if len(line) > 110 else line for line in text.split("\n"))


def full_flow() -> Json:
    """Give a workflow whose one step asks for everything."""
    asking = step(
        "plan-it",
        prompt="Plan {{goal}} for {{team}}.",
        agentRole="You are a careful planner.",
        guidance=["Keep it small."],
        requireConfirmation=True,
        validationCriteria=[
            {"type": "contains", "value": "Plan:", "message": "say the plan"},
            {"type": "length", "min": 10, "message": "too short"},
        ],
        assessmentRefs=["risk"],
        promptFragments=[{"id": "extra", "text": "Mind the team.", "when": {"var": "team"}}],
        functionReferences=["shrink()"],
    )
    return definition(asking, metaGuidance=["Never guess."], assessments=[RISK], functionDefinitions=FUNCTIONS)
