"""The shape of a WorkRail-style workflow file: what WorkRail 3.29 and later accept, and what its guide names."""

from handrail.authoring.shapes.shapes import Anything, Choice, Either, Flag, Key, ListOf, MapOf, Number, Record, Text
from handrail.authoring.workrail.parts import FUNCTIONS, TIERS, needs, words
from handrail.authoring.workrail.steps import AGENT_ROLE, STEP

LEVELS = ("required", "preferred", "disabled")
SEMVER = (
    r"(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)"
    r"(-[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?"
)
SENTENCES = ListOf(words("an entry", 256), unique=True)

FEATURE = Either(
    "a feature",
    {
        "text": words("a feature's id", 128),
        "map": Record(
            "a feature",
            {
                "id": needs(words("a feature's id", 128), "the feature, such as wr.features.capabilities"),
                "config": Key(MapOf(Anything()), "its settings"),
            },
        ),
    },
)
DIMENSION = Record(
    "a dimension",
    {
        "id": needs(
            Text("dimension id", least=1, most=64, pattern="[a-z0-9_-]+", example="evidence_quality"), "its id"
        ),
        "purpose": needs(words("a purpose", 256), "what is rated"),
        "levels": needs(ListOf(words("a level", 64), least=2, unique=True), "its levels"),
        "required": Key(Flag(), "whether it must be rated; default true"),
    },
)
ASSESSMENT = Record(
    "an assessment",
    {
        "id": needs(words("an assessment's id", 64), "the id that steps refer to"),
        "purpose": needs(words("a purpose", 256), "what it is for"),
        "dimensions": needs(ListOf(DIMENSION, least=1), "what is rated"),
        "rationaleRequired": Key(Flag(), "whether each level needs a reason; default true"),
    },
)
EXTENSION_POINT = Record(
    "an extension point",
    {
        "slotId": needs(
            Text("slot id", least=2, most=64, pattern="[a-z][a-z0-9_]*", example="design_review"),
            "the name in `{{wr.bindings.NAME}}`",
        ),
        "purpose": needs(words("a purpose", 256), "what the slot is for"),
        "default": needs(words("a default", 128), "what it is bound to unless the project overrides it"),
        "acceptedKinds": Key(ListOf(Choice(("routine", "workflow")), unique=True), "what it may be bound to"),
    },
)
REFERENCE = Record(
    "a reference",
    {
        "id": needs(Text("reference id", least=1, most=64, pattern="[a-z][a-z0-9_-]*", example="api-schema"), "its id"),
        "title": needs(words("a title", 128), "the title shown to people"),
        "source": needs(words("a source", 512), "the file's path"),
        "purpose": needs(words("a purpose", 512), "what it is for"),
        "authoritative": needs(Flag(), "whether it takes precedence over other sources"),
        "resolveFrom": Key(Choice(("workspace", "package")), "where the path starts; default workspace"),
    },
)
PREFERENCES = Record(
    "recommended preferences",
    {
        "recommendedAutonomy": Key(
            Choice(("guided", "full_auto_stop_on_user_deps", "full_auto_never_stop")), "how autonomous a run is"
        ),
        "recommendedRiskPolicy": Key(Choice(("conservative", "balanced", "aggressive")), "how much risk a run takes"),
    },
)

WORKFLOW = Record(
    "a workflow",
    {
        "id": needs(
            Text(
                "workflow id",
                least=3,
                most=64,
                pattern=r"([a-z0-9_-]+|[a-z][a-z0-9_-]+\.[a-z][a-z0-9_-]+)",
                example="team.design-review",
            ),
            "the workflow's id",
        ),
        "name": needs(words("a name", 128), "the name shown to people"),
        "description": needs(words("a description", 512), "what it does"),
        "version": needs(
            Text("version", pattern=SEMVER, example="1.0.0"), "a label; the hash of the content identifies the workflow"
        ),
        "steps": needs(ListOf(STEP, least=1), "the steps"),
        "preconditions": Key(SENTENCES, "what must be true before it starts"),
        "clarificationPrompts": Key(SENTENCES, "questions to ask first"),
        "metaGuidance": Key(SENTENCES, "rules for the whole workflow"),
        "agentRole": Key(AGENT_ROLE, "the role the agent takes in every step that does not set its own"),
        "functionDefinitions": Key(FUNCTIONS, "functions that all steps may refer to"),
        "recommendedPreferences": Key(PREFERENCES, "how to run it"),
        "features": Key(ListOf(FEATURE, unique=True), "library texts added to every step that uses prompt blocks"),
        "capabilities": Key(
            MapOf(
                Either("a capability", {"text": Choice(LEVELS), "list": ListOf(words("a capability"), unique=True)}),
                key_pattern="[a-z][a-z0-9_]*",
                key_what="capability",
            ),
            'what the agent must or should be able to do: {"delegation": "required"} or {"required": ["delegation"]}',
        ),
        "assessments": Key(ListOf(ASSESSMENT), "assessments that steps can require"),
        "extensionPoints": Key(ListOf(EXTENSION_POINT), "slots that the project may bind"),
        "references": Key(ListOf(REFERENCE), "documents that the agent should know about"),
        "validatedAgainstSpecVersion": Key(Number(least=1, whole=True), "the authoring spec it was checked against"),
        "about": Key(words("a text", 4096), "a longer description"),
        "examples": Key(ListOf(Text("an example", least=10, most=120), least=1, most=6, unique=True), "example goals"),
        "tags": Key(ListOf(words("a tag", 64), unique=True), "keywords"),
        "modelTier": Key(TIERS, "the model strength it needs"),
        "metricsProfile": Key(
            Choice(("coding", "review", "research", "design", "ticket", "none")), "which metrics are kept"
        ),
    },
)
