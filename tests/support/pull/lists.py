"""Ways to ask for the list of workflows, and a workflow that declares everything there is."""

from pathlib import Path
from typing import Any

from handrail.sources.foreign_files import read_content
from handrail.sources.tiers import Location, here
from handrail.sources.trust.store import TrustStore
from support.pull.room import BY_ARTIFACT, CONTROL, Pull, definition, loop, step

Json = dict[str, Any]
NATIVE = "name: NAME\ndescription: Greets.\nlabels: [friendly]\nsteps:\n  - {name: a, prompt: Say hello}\n"


def listed(pull: Pull, **keys: Any) -> Json:
    said = pull.call("list_workflows", workspacePath=str(pull.workspace), **keys)
    assert not said.is_error, said.text
    return said.data


def row(pull: Pull, name: str, **keys: Any) -> Json:
    return row_in(listed(pull, **keys), name)


def row_in(data: Json, name: str) -> Json:
    found = [each for each in data["workflows"] if each["workflowId"] == name]
    assert len(found) == 1, name
    return found[0]


def three_steps(third: str = "Do step-3.") -> Json:
    return definition(step("step-1"), step("step-2"), step("step-3", prompt=third))


def place_of(pull: Pull) -> Location:
    return here(pull.workspace, pull.environ)


CONFIDENCE: Json = {
    "id": "confidence",
    "purpose": "How sure you are.",
    "dimensions": [{"id": "evidence", "purpose": "What supports it.", "levels": ["low", "high"]}],
}


def everything() -> Json:
    first = step(
        "step-1",
        agentRole="You look at things closely.",
        assessmentRefs=["confidence"],
        assessmentConsequences=[
            {"when": {"anyEqualsLevel": "low"}, "effect": {"kind": "require_followup", "guidance": "Look again."}}
        ],
    )
    second = step("step-2", runCondition={"var": "deep", "equals": True}, requireConfirmation=True)
    again = loop("again", step("try-it"), step("decide", **CONTROL), type="while", conditionSource=BY_ARTIFACT)
    return definition(
        first,
        second,
        again,
        about="All there is to say.",
        examples=["Look at the login page"],
        preconditions=["The tests pass."],
        clarificationPrompts=["Which page?"],
        metaGuidance=["Be brief."],
        agentRole="You are a careful reader.",
        capabilities={"delegation": "preferred"},
        features=["wr.features.capabilities"],
        assessments=[CONFIDENCE],
        extensionPoints=[{"slotId": "how", "purpose": "How to look.", "default": "wr.routine-ideation"}],
        references=[
            {
                "id": "guide",
                "title": "The guide",
                "source": "docs/guide.md",
                "purpose": "Style.",
                "authoritative": True,
            },
            {"id": "gone", "title": "Lost", "source": "docs/gone.md", "purpose": "Nothing.", "authoritative": False},
        ],
        recommendedPreferences={"recommendedAutonomy": "guided", "recommendedRiskPolicy": "balanced"},
    )


def trust_file(pull: Pull, path: Path) -> None:
    """Trust one file of the workspace as it is now."""
    content = read_content(path, pull.workspace)
    assert content is not None
    TrustStore(place_of(pull).folders).trust([content])
