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
        "purpose": needs(words("a purpose", 256), "what is judged"),
        "levels": needs(ListOf(words("a level", 64), least=2, unique=True), "the words it is judged in"),
        "required": Key(Flag(), "whether it must be judged; true unless said otherwise"),
    },
)
ASSESSMENT = Record(
    "an assessment",
    {
        "id": needs(words("an assessment's id", 64), "the id that steps refer to"),
        "purpose": needs(words("a purpose", 256), "what it is for"),
        "dimensions": needs(ListOf(DIMENSION, least=1), "what is judged"),
        "rationaleRequired": Key(Flag(), "whether each level needs its reason; true unless said otherwise"),
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
        "default": needs(words("a default", 128), "what it is bound to unless the project says otherwise"),
        "acceptedKinds": Key(ListOf(Choice(("routine", "workflow")), unique=True), "what may be bound"),
    },
)
REFERENCE = Record(
    "a reference",
    {
        "id": needs(Text("reference id", least=1, most=64, pattern="[a-z][a-z0-9_-]*", example="api-schema"), "its id"),
        "title": needs(words("a title", 128), "what people see"),
        "source": needs(words("a source", 512), "the file's path"),
        "purpose": needs(words("a purpose", 512), "what it is for"),
        "authoritative": needs(Flag(), "whether it outranks other sources"),
        "resolveFrom": Key(Choice(("workspace", "package")), "where the path starts; the workspace unless said"),
    },
)
PREFERENCES = Record(
    "recommended preferences",
    {
        "recommendedAutonomy": Key(
            Choice(("guided", "full_auto_stop_on_user_deps", "full_auto_never_stop")), "how far it goes alone"
        ),
        "recommendedRiskPolicy": Key(Choice(("conservative", "balanced", "aggressive")), "how much it dares"),
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
        "name": needs(words("a name", 128), "what people see"),
        "description": needs(words("a description", 512), "what it does"),
        "version": needs(
            Text("version", pattern=SEMVER, example="1.0.0"), "a label; the content's hash is what counts"
        ),
        "steps": needs(ListOf(STEP, least=1), "what is done"),
        "preconditions": Key(SENTENCES, "what must be so before it starts"),
        "clarificationPrompts": Key(SENTENCES, "questions to ask first"),
        "metaGuidance": Key(SENTENCES, "rules that hold throughout"),
        "agentRole": Key(AGENT_ROLE, "the stance the agent takes in every step that has none of its own"),
        "functionDefinitions": Key(FUNCTIONS, "functions that all steps may refer to"),
        "recommendedPreferences": Key(PREFERENCES, "how to run it"),
        "features": Key(ListOf(FEATURE, unique=True), "texts of the library added to every step in sections"),
        "capabilities": Key(
            MapOf(
                Either("a capability", {"text": Choice(LEVELS), "list": ListOf(words("a capability"), unique=True)}),
                key_pattern="[a-z][a-z0-9_]*",
                key_what="capability",
            ),
            'what the agent must or should be able to do: {"delegation": "required"} or {"required": ["delegation"]}',
        ),
        "assessments": Key(ListOf(ASSESSMENT), "judgments that steps must give"),
        "extensionPoints": Key(ListOf(EXTENSION_POINT), "slots the project may bind"),
        "references": Key(ListOf(REFERENCE), "documents the agent should know of"),
        "validatedAgainstSpecVersion": Key(Number(least=1, whole=True), "the authoring spec it was checked by"),
        "about": Key(words("a text", 4096), "what it is, at length"),
        "examples": Key(
            ListOf(Text("an example", least=10, most=120), least=1, most=6, unique=True), "goals it is good for"
        ),
        "tags": Key(ListOf(words("a tag", 64), unique=True), "words to find it by"),
        "modelTier": Key(TIERS, "how strong a model it needs"),
        "metricsProfile": Key(
            Choice(("coding", "review", "research", "design", "ticket", "none")), "which figures are kept"
        ),
    },
)
