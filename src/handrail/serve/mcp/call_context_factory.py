"""Builds the context of calls: the user's log, its keys, the workflows seen from a folder, the background driver."""

import os
from pathlib import Path

from handrail.operations.issue_runs.issue_settings import status_rules
from handrail.operations.issue_runs.start_on_issue import IssueDesk
from handrail.operations.pull.call_context import CONNECTED, CallContext
from handrail.operations.views.run_tree import root_of
from handrail.sources.tiers import Location, here
from handrail.store.signing_keys import keys_in
from handrail.wiring.handover import make_handover
from handrail.wiring.session import current_actor
from handrail.wiring.system import System
from handrail.wiring.trackers import Trackers


def make_call_context(system: System, place: Location) -> CallContext:
    """Build the context of calls to a log."""

    def find_place(folder: Path) -> Location:
        return here(folder, os.environ)

    over = make_handover(system, place.folders)

    def wake(run: str) -> None:
        over.wake(root_of(system.log, run))

    def offer(run: str) -> None:
        over.offer_once(root_of(system.log, run))

    def keys() -> tuple[bytes, ...]:
        return keys_in(place.folders.data)

    def find_issues(seen: Location) -> IssueDesk:
        trackers = Trackers(seen.folders, system.environments, system.log, seen.cwd)
        return IssueDesk(system.writer, trackers, system.folder / "runs", status_rules(seen))

    actor = current_actor()
    return CallContext(
        system.writer,
        keys(),
        find_place,
        wake,
        system.machine,
        system.clock,
        keys_now=keys,
        agents=system.agents,
        issues=find_issues,
        caller=CONNECTED if actor.decides else actor,
        offer=offer,
        person=actor if actor.decides else None,
    )
