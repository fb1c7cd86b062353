"""Builds a desk: the user's log, its keys, the workflows seen from a folder, the background driver."""

import os
from pathlib import Path

from handrail.operations.pull.desk import CONNECTED, Desk
from handrail.operations.views.run_tree import root_of
from handrail.sources.tiers import Place, here
from handrail.store.signing_keys import keys_in
from handrail.wiring.handover import make_handover
from handrail.wiring.session import current_actor
from handrail.wiring.system import System


def desk_of(system: System, place: Place) -> Desk:
    """Build the desk of a log."""

    def find_place(folder: Path) -> Place:
        return here(folder, os.environ)

    over = make_handover(system, place.folders)

    def wake(run: str) -> None:
        over.wake(root_of(system.log, run))

    def offer(run: str) -> None:
        over.offer_once(root_of(system.log, run))

    def keys() -> tuple[bytes, ...]:
        return keys_in(place.folders.data)

    actor = current_actor()
    return Desk(
        system.writer,
        keys(),
        find_place,
        wake,
        system.machine,
        system.clock,
        keys_now=keys,
        agents=system.agents,
        caller=CONNECTED if actor.decides else actor,
        offer=offer,
        person=actor if actor.decides else None,
    )
