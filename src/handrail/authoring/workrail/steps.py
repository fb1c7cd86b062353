"""Shapes of WorkRail-style steps: standard steps, template calls, loops and parallel delegations."""

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
from handrail.authoring.workrail.parts import (
    CONDITION_REF,
    CONFIRMATION,
    CONTRACT,
    CRITERIA,
    FRAGMENT,
    FUNCTION_CALL,
    FUNCTIONS,
    IDENTIFIER,
    PROMPT_BLOCKS,
    TIERS,
    identifier,
    needs,
    words,
)

STEP_ID = Text("step id", least=3, most=64, pattern="[a-z0-9-]+", example="phase-1-plan")
AGENT_ROLE = Text("an agent role", least=10, most=1024)
ARGS = MapOf(Anything(), key_what="argument")
TEMPLATE_ID = words("a template id", 128)
TEMPLATE_DOC = "the template, such as wr.templates.routine.design-review"

COMMON: dict[str, Key] = {
    "id": needs(STEP_ID, "the step's id, unique in the workflow"),
    "title": needs(words("a title", 128), "the title shown to people"),
    "requireConfirmation": Key(CONFIRMATION, "whether a person must confirm: true, false, or a condition"),
    "runCondition": Key(CONDITION_REF, "the step runs only when this holds"),
    "notesOptional": Key(Flag(), "whether the step may end without notes"),
}
TEMPLATE_CALL = Record(
    "a template call",
    {
        "templateId": needs(TEMPLATE_ID, TEMPLATE_DOC),
        "args": Key(ARGS, "values for the routine's `{name}` places"),
    },
)
CONSEQUENCE = Record(
    "a consequence",
    {
        "when": needs(
            Record(
                "a consequence's trigger",
                {
                    "anyEqualsLevel": needs(words("a level", 64), "the level that triggers it"),
                    "forAssessment": Key(words("an assessment's id", 64), "consider only this assessment"),
                },
            ),
            "when it applies",
        ),
        "effect": needs(
            Record(
                "a consequence's effect",
                {
                    "kind": needs(Choice(("require_followup",)), "the effect: the step is repeated"),
                    "guidance": needs(words("guidance", 512), "the guidance that the agent gets then"),
                },
            ),
            "what follows",
        ),
    },
)
AUDIT = Record(
    "an audit",
    {
        "prompt": needs(words("an audit's prompt", 4096), "what the auditor is asked"),
        "rubric": Key(ListOf(words("a rubric line")), "a criterion for the work"),
    },
)
VERIFICATION = Record(
    "a verification",
    {
        "command": Key(words("a command", 1024), "a command that must pass after the step"),
        "prompt": Key(words("a verification's prompt", 4096), "a question that verifies the step"),
    },
)

STANDARD = Record(
    "a step",
    {
        **COMMON,
        "type": Key(Choice(("step",)), "may be left out for an ordinary step"),
        "prompt": Key(words("a prompt", 8192), "the prompt of the agent"),
        "promptBlocks": Key(PROMPT_BLOCKS, "the prompt in sections"),
        "templateCall": Key(TEMPLATE_CALL, "a routine whose steps replace this one"),
        "agentRole": Key(AGENT_ROLE, "the role the agent takes"),
        "guidance": Key(ListOf(Text()), "short advice in addition to the prompt"),
        "askForFiles": Key(Flag(), "whether the agent should ask for files"),
        "hasValidation": Key(Flag(), "accepted for old files; it has no effect"),
        "validationCriteria": Key(CRITERIA, "rules for what the step returns"),
        "outputContract": Key(CONTRACT, "the artifact that the step must return"),
        "assessmentRefs": Key(
            ListOf(words("an assessment's id", 64), least=1, unique=True), "assessments that the step must return"
        ),
        "assessmentConsequences": Key(ListOf(CONSEQUENCE, least=1, most=10), "what follows from their levels"),
        "functionDefinitions": Key(FUNCTIONS, "functions for this step only"),
        "functionCalls": Key(ListOf(FUNCTION_CALL), "functions the step calls"),
        "functionReferences": Key(
            ListOf(Text("function reference", pattern=IDENTIFIER + r"\(\)", example="reviewDiff()")),
            "functions the step refers to, as `name()`",
        ),
        "promptFragments": Key(ListOf(FRAGMENT, least=1), "texts added to the prompt under conditions"),
        "modelTier": Key(TIERS, "the model strength the step needs"),
        "audit": Key(AUDIT, "an audit of the step's work"),
        "verification": Key(VERIFICATION, "how the step's work is verified"),
    },
    one_of=(("prompt", "promptBlocks", "templateCall"),),
)

CALL = Record(
    "a template_call step",
    {
        "id": COMMON["id"],
        "type": needs(Choice(("template_call",)), "template_call"),
        "title": Key(words("a title", 128), "for readers of the file; the steps that replace it have their own"),
        "templateId": needs(TEMPLATE_ID, TEMPLATE_DOC),
        "args": Key(ARGS, "values for the routine's `{name}` places"),
        "runCondition": COMMON["runCondition"],
        "requireConfirmation": COMMON["requireConfirmation"],
        "notesOptional": COMMON["notesOptional"],
    },
)

CONDITION_SOURCE = Tagged(
    "condition source",
    "kind",
    {
        "artifact_contract": Record(
            "a condition source",
            {
                "kind": needs(Choice(("artifact_contract",)), "an artifact of the body decides"),
                "contractRef": needs(words("a contract's id"), "wr.contracts.loop_control"),
                "loopId": Key(words("a loop id"), "a label for the artifact"),
            },
        ),
        "context_variable": Record(
            "a condition source",
            {
                "kind": needs(Choice(("context_variable",)), "the context decides"),
                "condition": needs(CONDITION_REF, "the condition"),
            },
        ),
    },
    {},
)
LOOP = Record(
    "a loop",
    {
        "type": needs(Choice(("while", "until", "for", "forEach")), "the kind of loop"),
        "maxIterations": needs(Number(1, 1000, whole=True), "maximum number of rounds"),
        "condition": Key(CONDITION_REF, "the condition of a while or until loop"),
        "conditionSource": Key(CONDITION_SOURCE, "what decides a while or until loop"),
        "items": Key(words("a variable's name"), "the context variable that forEach iterates over"),
        "count": Key(
            Either("count", {"number": Number(1, 1000, whole=True), "text": words("a variable's name")}),
            "the rounds of for: a number, or the context variable that holds it",
        ),
        "iterationVar": Key(identifier("variable name"), "the variable that counts rounds from 1"),
        "itemVar": Key(identifier("variable name"), "the variable that holds the item"),
        "indexVar": Key(identifier("variable name"), "the variable that counts items from 0"),
    },
)


def _step() -> Shape:
    return STEP


LOOP_STEP = Record(
    "a loop step",
    {
        **COMMON,
        "type": needs(Choice(("loop",)), "loop"),
        "loop": needs(LOOP, "how it repeats"),
        "body": needs(
            Either("body", {"text": STEP_ID, "list": ListOf(Ref("step", _step), least=1)}),
            "the steps that are repeated, or the id of a top-level step",
        ),
        "functionDefinitions": Key(FUNCTIONS, "functions for the steps of the body"),
    },
)

DELEGATION = Record(
    "a delegation",
    {
        "workflowId": needs(words("a workflow's id"), "the workflow that does the work"),
        "goal": Key(words("a goal"), "what it should achieve"),
        "runCondition": Key(CONDITION_REF, "delegate only when this holds"),
        "contextMapping": Key(
            MapOf(words("a name")), "names in this context, each with its name in the other workflow"
        ),
        "args": Key(MapOf(Text(), key_what="argument"), "additional texts"),
        "modelTier": Key(TIERS, "the model strength it needs"),
        "allowedTools": Key(ListOf(words("a tool's name")), "the tools it may use"),
    },
)
PARALLEL = Record(
    "a parallel step",
    {
        **COMMON,
        "type": needs(Choice(("parallel",)), "parallel"),
        "parallelDelegations": needs(ListOf(DELEGATION, least=1), "the delegations, all at the same time"),
        "synthesis": Key(
            Record(
                "a synthesis",
                {
                    "prompt": Key(words("a prompt", 8192), "how the results are combined"),
                    "outputContract": Key(CONTRACT, "the artifact that the synthesis must return"),
                },
            ),
            "how the results are combined",
        ),
    },
)

STEP = Tagged(
    "step",
    "type",
    {"step": STANDARD, "loop": LOOP_STEP, "parallel": PARALLEL, "template_call": CALL},
    {"loop": "loop", "body": "loop", "parallelDelegations": "parallel", "templateId": "template_call"},
    "step",
)
