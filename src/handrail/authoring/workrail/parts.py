"""Shapes that WorkRail-style steps and workflows share: conditions, validation, prompts, functions."""

from handrail.authoring.shapes.shapes import (
    Anything,
    Choice,
    Either,
    Flag,
    Key,
    ListOf,
    MapOf,
    Number,
    Record,
    Ref,
    Shape,
    Tagged,
    Text,
)

IDENTIFIER = r"[a-zA-Z_][a-zA-Z0-9_]*"
TIERS = Choice(("lightweight", "mid", "heavy"))


def needs(shape: Shape, doc: str) -> Key:
    """Build a required key."""
    return Key(shape, doc, required=True)


def words(what: str, most: int | None = None) -> Text:
    """Build the shape of a text that must not be empty."""
    return Text(what, least=1, most=most)


def identifier(what: str) -> Text:
    """Build the shape of an identifier as in programming languages."""
    return Text(what, pattern=IDENTIFIER, example="myName")


def _condition() -> Shape:
    return CONDITION


CONDITION_REF = Ref("condition", _condition)

OPERATORS: dict[str, Key] = {
    "var": Key(words("a variable's name"), "the context variable that is tested; one flat name"),
    "equals": Key(Anything(), "equal, leniently: case, spaces and number formats are ignored"),
    "not_equals": Key(Anything(), "not equal, leniently"),
    "gt": Key(Number(), "greater than this number"),
    "gte": Key(Number(), "greater than or equal to this number"),
    "lt": Key(Number(), "less than this number"),
    "lte": Key(Number(), "less than or equal to this number"),
    "contains": Key(Text(), "contains this text, case ignored"),
    "startsWith": Key(Text(), "starts with this text, case ignored"),
    "endsWith": Key(Text(), "ends with this text, case ignored"),
    "matches": Key(words("a pattern"), "matches this regular expression, case ignored"),
    "in": Key(ListOf(Anything()), "equal to one of these"),
    "and": Key(ListOf(CONDITION_REF), "every one of these holds"),
    "or": Key(ListOf(CONDITION_REF), "at least one of these holds"),
    "not": Key(CONDITION_REF, "this does not hold"),
}
"""Keys of a condition; those from `equals` to `in` are in the order in which they are evaluated."""

CONDITION = Record("a condition", OPERATORS)

CONFIRMATION = Either(
    "requireConfirmation",
    {
        "flag": Flag(),
        "map": Record(
            "a confirmation",
            {
                **OPERATORS,
                "kind": Key(Choice(("coordinator_eval", "human_approval")), "who confirms"),
                "condition": Key(CONDITION_REF, "confirm only when this holds; needs `kind`"),
            },
        ),
    },
)


def _validation() -> Shape:
    return VALIDATION


VALIDATION_REF = Ref("validation", _validation)
VALIDATION = Record(
    "a validation rule",
    {
        "type": Key(Choice(("contains", "regex", "length", "schema")), "the kind of rule"),
        "message": Key(words("a message"), "the message when the rule is not met"),
        "value": Key(Text(), "the text that must occur"),
        "pattern": Key(words("a pattern"), "the regular expression that must match"),
        "flags": Key(Text("set of flags", pattern="[dgimsuvy]*", example="i"), "flags of the regular expression"),
        "min": Key(Number(least=0, whole=True), "the minimum length in characters"),
        "max": Key(Number(least=0, whole=True), "the maximum length in characters"),
        "schema": Key(MapOf(Anything()), "the JSON Schema that must be met"),
        "condition": Key(CONDITION_REF, "the rule applies only when this holds"),
        "and": Key(ListOf(VALIDATION_REF, least=1), "every one of these holds"),
        "or": Key(ListOf(VALIDATION_REF, least=1), "at least one of these holds"),
        "not": Key(VALIDATION_REF, "this does not hold"),
    },
    one_of=(("type", "and", "or", "not"),),
)
CRITERIA = Either("validationCriteria", {"list": ListOf(VALIDATION_REF), "map": VALIDATION_REF})

CONTRACT = Record(
    "an output contract",
    {
        "contractRef": needs(words("a contract's id"), "the contract pack, such as wr.contracts.loop_control"),
        "required": Key(Flag(), "whether the artifact is required; default true"),
    },
)

PART = Tagged(
    "prompt part",
    "kind",
    {
        "text": Record(
            "a prompt part",
            {"kind": needs(Choice(("text",)), "text"), "text": needs(Text(), "the literal text")},
        ),
        "ref": Record(
            "a prompt part",
            {
                "kind": needs(Choice(("ref",)), "ref"),
                "refId": needs(words("a reference's id", 128), "the library text, such as wr.refs.memory_usage"),
            },
        ),
    },
    {"text": "text", "refId": "ref"},
)
PROMPT_VALUE = Either("a prompt value", {"text": words("a prompt value"), "list": ListOf(PART, least=1)})
PROMPT_BLOCKS = Record(
    "prompt blocks",
    {
        "goal": Key(PROMPT_VALUE, "what the step is for"),
        "constraints": Key(ListOf(PROMPT_VALUE), "what must always hold"),
        "procedure": Key(ListOf(PROMPT_VALUE), "what to do, in order"),
        "outputRequired": Key(MapOf(Text(), key_what="name of an output"), "what must be returned, by name"),
        "verify": Key(ListOf(PROMPT_VALUE), "what to check at the end"),
    },
)
FRAGMENT = Record(
    "a prompt fragment",
    {
        "id": needs(Text("fragment id", least=1, most=64, pattern="[a-z][a-z0-9_-]*", example="deep-dive"), "its id"),
        "when": Key(CONDITION_REF, "the text is added when this holds, or always if left out"),
        "text": needs(words("a fragment's text", 4096), "the text that is added to the prompt"),
    },
)

PARAMETER = Record(
    "a function parameter",
    {
        "name": needs(identifier("parameter name"), "its name"),
        "type": needs(Choice(("string", "number", "boolean", "array", "object")), "its type"),
        "required": Key(Flag(), "whether a call must pass it"),
        "description": Key(Text(), "what it means"),
        "enum": Key(ListOf(Anything(), least=1), "the values it may have"),
        "default": Key(Anything(), "its value when a call does not pass it"),
    },
)
FUNCTION = Record(
    "a function definition",
    {
        "name": needs(identifier("function name"), "the name that steps refer to as `name()`"),
        "definition": needs(Text("a definition", most=4096), "what it means, in words"),
        "parameters": Key(ListOf(PARAMETER), "its parameters"),
        "scope": Key(Choice(("workflow", "loop", "step")), "where it may be used"),
    },
)
FUNCTIONS = ListOf(FUNCTION, most=32)
"""Limited in number, because every step carries the functions it may refer to."""
FUNCTION_CALL = Record(
    "a function call",
    {
        "name": needs(identifier("function name"), "the function that is called"),
        "args": needs(MapOf(Anything()), "its arguments"),
    },
)
