"""Shapes of what guides a whole workflow: its rules, references, features, capabilities, slots and assessments."""

from handrail.authoring.native.parts import ANY_VALUE, TEXTS
from handrail.authoring.shapes.shapes import Choice, Either, Flag, Key, ListOf, MapOf, Record, Text

GUIDANCE = ListOf(Text("rule", 1, 256), unique=True)

REFERENCES = ListOf(
    Record(
        "a reference",
        {
            "id": Key(Text("reference id", 1, 64, r"[a-z][a-z0-9_-]*", "api-schema"), "its id", required=True),
            "title": Key(Text("title", 1, 128), "the title shown to people", required=True),
            "source": Key(Text("path", 1, 512), "the file's path, below the workspace", required=True),
            "purpose": Key(Text("purpose", 1, 512), "what it is for", required=True),
            "authoritative": Key(Flag(), "whether it takes precedence over other sources; default false"),
            "resolve_from": Key(Choice(("workspace", "package")), "where the path starts; default workspace"),
        },
    )
)

_FEATURE_ID = Text("feature", 1, 128)
FEATURES = ListOf(
    Either(
        "a feature",
        {
            "text": _FEATURE_ID,
            "map": Record(
                "a feature",
                {
                    "id": Key(_FEATURE_ID, "the feature, such as wr.features.durable_recap", required=True),
                    "config": Key(MapOf(ANY_VALUE), "its settings"),
                },
            ),
        },
    ),
    unique=True,
)

CAPABILITIES = MapOf(
    Either(
        "a capability",
        {
            "text": Choice(("required", "preferred", "disabled")),
            "list": ListOf(Text("capability", 1, 128), unique=True),
        },
    ),
    key_pattern=r"[a-z][a-z0-9_]*",
    key_what="capability",
)

_TARGET = Text("binding", 1, 128)
EXTENSION_POINTS = MapOf(
    Either(
        "an extension point",
        {
            "text": _TARGET,
            "map": Record(
                "an extension point",
                {
                    "default": Key(_TARGET, "what it is bound to unless the project overrides it", required=True),
                    "purpose": Key(Text("purpose", 1, 256), "what it is for"),
                    "accepts": Key(
                        ListOf(Choice(("routine", "workflow")), least=1, unique=True),
                        "what it may be bound to; default both",
                    ),
                },
            ),
        },
    ),
    key_pattern=r"[a-z][a-z0-9_]*",
    key_what="extension point",
)

LEVELS = ListOf(Text("level", 1, 64), least=2, unique=True)
ASSESSMENT = Record(
    "an assessment",
    {
        "purpose": Key(Text(most=256), "what is rated"),
        "dimensions": Key(
            MapOf(
                Either(
                    "a dimension",
                    {
                        "text": Text("purpose", 1, 256),
                        "map": Record(
                            "a dimension",
                            {
                                "purpose": Key(Text("purpose", 1, 256), "what is rated"),
                                "levels": Key(LEVELS, "its levels, worst first"),
                                "required": Key(Flag(), "whether it is required; default true"),
                            },
                        ),
                    },
                ),
                key_pattern=r"[a-z][a-z0-9_-]*",
                least=1,
                key_what="dimension name",
            ),
            "what is rated, each with its purpose",
            required=True,
        ),
        "levels": Key(LEVELS, "levels of every dimension that defines none; default low, medium, high"),
        "rationale": Key(Choice(("required", "optional")), "whether each level needs a reason; default required"),
        "follow_up_when": Key(TEXTS, "levels that make the agent try again, within its `retry`"),
        "guidance": Key(Text(most=512), "the guidance that the agent gets then"),
    },
)
ASSESSMENTS = MapOf(ASSESSMENT, key_pattern=r"[a-z][a-z0-9_.-]*", key_what="assessment name")
_NAME = Text("assessment", 1, 128)
ASSESS = Either("assess", {"text": _NAME, "list": ListOf(_NAME, least=1, unique=True), "map": ASSESSMENT})
