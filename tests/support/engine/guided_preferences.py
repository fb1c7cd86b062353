"""Guided walks whose user prefers something."""

from handrail.engine.state.preferences import PreferenceChange, decide_preferences
from handrail.model.workflow.plan import Plan
from support.engine.guided_walking import GuidedWalk
from support.engine.walking import Walk


def walk_with(plan: Plan, autonomy: str = "", risk: str = "") -> GuidedWalk:
    walk = GuidedWalk(plan).start()
    walk.record(*decide_preferences(plan, walk.state, PreferenceChange(by="ann", autonomy=autonomy, risk=risk), 0.0))
    return walk.settle()


def gaps_of(walk: Walk) -> list[tuple[str, str, str]]:
    return [(str(gap["category"]), str(gap["severity"]), str(gap["message"])) for gap in walk.state.gaps]
