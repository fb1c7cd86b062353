"""Reads the judgments that a step asks for from artifacts, normalized to the levels that the assessment defines."""

from collections.abc import Sequence

from handrail.engine.contracts.javascript_values import trim
from handrail.engine.contracts.schema import preview_value
from handrail.frozen import frozen
from handrail.model.history.events import Shortfall, ShortfallCode
from handrail.model.workflow.guidance import Assessment, Consequence, Dimension
from handrail.model.workflow.values import JsonValue

ASSESSMENT = "wr.assessment"
MAX_RATIONALE_LENGTH = 512
MAX_SUMMARY_LENGTH = 1024
_KEYS = frozenset({"kind", "assessmentId", "dimensions", "summary"})


@frozen
class Judgment:
    """One level that was given, in the spelling of the assessment."""

    assessment: str
    dimension: str
    level: str
    rationale: str = ""
    written: str = ""
    """The level as it was written, where the spelling differed."""

    def record(self) -> JsonValue:
        """Return the judgment as it is stored."""
        kept: dict[str, JsonValue] = {
            "level": self.level,
            "rationale": self.rationale,
            "normalized": bool(self.written),
        }
        return {**kept, "written": self.written} if self.written else kept


@frozen
class AssessmentResult:
    """The judgments read from the artifacts, or their shortfalls."""

    judgments: tuple[Judgment, ...] = ()
    shortfalls: tuple[Shortfall, ...] = ()


def levels_of(judgments: Sequence[Judgment]) -> dict[str, JsonValue]:
    """Return judgments as they are stored: the dimensions of each assessment."""
    levels: dict[str, dict[str, JsonValue]] = {}
    for each in judgments:
        levels.setdefault(each.assessment, {})[each.dimension] = each.record()
    return dict(levels)


def read_assessments(wanted: Sequence[Assessment], artifacts: Sequence[JsonValue]) -> AssessmentResult:
    """Read every assessment that a step asks for; none counts unless all are valid."""
    found = [_read_assessment(each, _find_artifact(each, artifacts, alone=len(wanted) == 1)) for each in wanted]
    shortfalls = tuple(shortfall for each in found for shortfall in each.shortfalls)
    judgments = tuple(judgment for each in found for judgment in each.judgments)
    return AssessmentResult((), shortfalls) if shortfalls else AssessmentResult(judgments)


def _find_artifact(wanted: Assessment, artifacts: Sequence[JsonValue], *, alone: bool) -> dict[str, JsonValue] | None:
    """Find the artifact of an assessment: the first one if there is a single assessment, else the one that names it."""
    for each in artifacts:
        if (
            isinstance(each, dict)
            and each.get("kind") == ASSESSMENT
            and (alone or each.get("assessmentId") == wanted.id)
        ):
            return each
    return None


def _read_assessment(wanted: Assessment, given: dict[str, JsonValue] | None) -> AssessmentResult:
    if given is None:
        message = f"the assessment '{wanted.id}' is missing"
        return AssessmentResult((), (_shortfall(wanted, "missing_assessment", message, wanted.id),))
    wrong = _shape_problems(wanted, given)
    dimensions = given.get("dimensions")
    levels = dimensions if isinstance(dimensions, dict) else {}
    judgments: list[Judgment] = []
    if not wrong:
        known = {each.id for each in wanted.dimensions}
        wrong += [(f"unknown dimension '{name}'", name) for name in levels if name not in known]
    for each in wanted.dimensions if isinstance(dimensions, dict) else ():
        judged = _read_judgment(wanted, each, levels.get(each.id))
        if isinstance(judged, Judgment):
            judgments.append(judged)
        elif judged:
            wrong.append((judged, each.id))
    about = [f"{wanted.id}.{name}" if name else wanted.id for _, name in wrong]
    found = (
        _shortfall(wanted, "invalid_assessment", text, at, given) for (text, _), at in zip(wrong, about, strict=True)
    )
    return AssessmentResult(tuple(judgments), tuple(found))


def _shape_problems(wanted: Assessment, given: dict[str, JsonValue]) -> list[tuple[str, str]]:
    wrong: list[tuple[str, str]] = []
    named = given.get("assessmentId", wanted.id)
    if named != wanted.id:
        wrong.append((f"the assessment must be '{wanted.id}', got {preview_value(named)}", ""))
    if not isinstance(given.get("dimensions"), dict):
        wrong.append((f"'dimensions' of '{wanted.id}' must be a map of levels", ""))
    summary = given.get("summary", "")
    if not isinstance(summary, str) or len(summary) > MAX_SUMMARY_LENGTH:
        wrong.append((f"'summary' must be text of at most {MAX_SUMMARY_LENGTH} characters", ""))
    wrong += [(f"unknown key '{name}' in an assessment", "") for name in given if name not in _KEYS]
    return wrong


def _read_judgment(wanted: Assessment, dimension: Dimension, given: JsonValue) -> Judgment | str:
    """Read one level; return a text that says what is wrong with it, empty if it is optional and left out."""
    listed = ", ".join(dimension.levels)
    if given is None:
        return f"the dimension '{dimension.id}' is missing; give one of {listed}" if dimension.required else ""
    level, rationale = (given.get("level"), given.get("rationale", "")) if isinstance(given, dict) else (given, "")
    if not isinstance(level, str):
        return f"the level of '{dimension.id}' must be one of {listed}, got {preview_value(level)}"
    if not isinstance(rationale, str) or len(rationale) > MAX_RATIONALE_LENGTH:
        return f"the rationale of '{dimension.id}' must be text of at most {MAX_RATIONALE_LENGTH} characters"
    exact = _level(dimension, level)
    if exact is None:
        return f"the level of '{dimension.id}' must be one of {listed}, got {preview_value(level)}"
    if wanted.rationale_required and not rationale.strip():
        return f"the level of '{dimension.id}' needs a reason, as 'rationale'"
    return Judgment(wanted.id, dimension.id, exact, rationale, level if exact != level else "")


def _level(dimension: Dimension, given: str) -> str | None:
    """Return a level as it is written, or the only one that differs just in case and surrounding whitespace."""
    if given in dimension.levels:
        return given
    wanted = trim(given).lower()
    near = [level for level in dimension.levels if trim(level).lower() == wanted]
    return near[0] if len(near) == 1 else None


def _shortfall(wanted: Assessment, code: ShortfallCode, message: str, about: str, sent: JsonValue = None) -> Shortfall:
    levels = "; ".join(f"{each.id}: {' | '.join(each.levels)}" for each in wanted.dimensions)
    fix = f"give an artifact of kind {ASSESSMENT} for '{wanted.id}' ({levels})"
    return Shortfall(code, message, about, fix, schema=schema_of(wanted), example=example_of(wanted), sent=sent)


def schema_of(wanted: Assessment) -> JsonValue:
    """Return the JSON Schema of an assessment's artifact."""
    required: list[JsonValue] = [each.id for each in wanted.dimensions if each.required]
    dimensions: dict[str, JsonValue] = {each.id: _dimension_schema(wanted, each) for each in wanted.dimensions}
    levels: JsonValue = {
        "type": "object",
        "required": required,
        "properties": dimensions,
        "additionalProperties": False,
    }
    summary: JsonValue = {"type": "string", "maxLength": MAX_SUMMARY_LENGTH}
    properties: dict[str, JsonValue] = {
        "kind": {"const": ASSESSMENT},
        "assessmentId": {"const": wanted.id},
        "dimensions": levels,
        "summary": summary,
    }
    return {
        "type": "object",
        "required": ["kind", "dimensions"],
        "properties": properties,
        "additionalProperties": False,
    }


def _dimension_schema(wanted: Assessment, dimension: Dimension) -> JsonValue:
    names: list[JsonValue] = ["level", "rationale"] if wanted.rationale_required else ["level"]
    level: JsonValue = {"enum": list(dimension.levels)}
    rationale: JsonValue = {"type": "string", "maxLength": MAX_RATIONALE_LENGTH}
    form: JsonValue = {
        "type": "object",
        "required": names,
        "properties": {"level": level, "rationale": rationale},
        "additionalProperties": False,
    }
    return form if wanted.rationale_required else {"oneOf": [level, form]}


def example_of(wanted: Assessment) -> JsonValue:
    """Build an example of an assessment."""
    dimensions: dict[str, JsonValue] = {
        each.id: {"level": each.levels[0], "rationale": "…"} for each in wanted.dimensions
    }
    return {"kind": ASSESSMENT, "assessmentId": wanted.id, "dimensions": dimensions}


def follow_ups(consequences: Sequence[Consequence], judgments: Sequence[Judgment]) -> tuple[Shortfall, ...]:
    """List what judgments lead to, in the order of the consequences, each with the first judgment that led to it."""
    found: list[Shortfall] = []
    for each in consequences:
        for judgment in judgments:
            meant = each.for_assessment in (None, judgment.assessment)
            if meant and judgment.level == each.any_equals_level:
                message = f"'{judgment.dimension}' of '{judgment.assessment}' is {judgment.level}: {each.guidance}"
                about = f"{judgment.assessment}.{judgment.dimension}"
                found.append(Shortfall("follow_up", message, about, each.guidance, sent=judgment.level))
                break
    return tuple(found)
