"""Builds a cassette of a run from what is stored: its events, its agents' output, its snapshots.

Nothing extra is recorded while an agent works: everything in a cassette is stored anyway, with secrets removed.
"""

from collections.abc import Iterator
from pathlib import Path

from handrail.authoring.scripts.cassette import RecordedCall, digest, read_drift, write_cassette
from handrail.frozen import frozen
from handrail.model.history.events import Event, QuestionAsked, StepBegan, StepEnded, StepRefused
from handrail.model.secrets.redaction import Redactor
from handrail.operations.delivery.recorded_calls import agent_calls
from handrail.operations.views.run_tree import family
from handrail.ports.log import Log
from handrail.ports.processes import Ended, Processes
from handrail.ports.workspaces import Workspaces
from handrail.runtime.handlers.agents.handler import MAX_TRANSCRIPT, SLOT
from handrail.runtime.history import events_by_one_clock, state_before, state_of


@frozen
class Recording:
    """Where the stored data of a run is found."""

    log: Log
    workspaces: Workspaces
    processes: Processes
    redactor: Redactor
    folder: Path
    """The folder of the processes of all runs."""

    def cassette(self, run: str) -> bytes:
        """Build the cassette of a run and of all its child runs."""
        calls = [call for member in family(self.log, run) for call in self._calls(run, member)]
        return write_cassette(calls, {"workflow": state_of(self.log, run).workflow, "run": run})

    def drifts(self, run: str) -> tuple[str, ...]:
        """List the prompts of a replayed run that differ from the recorded ones."""
        heads = (
            (event.address, self._lines(place)[:1])
            for member in family(self.log, run)
            for _, event, place in self._find_call_folders(member)
        )
        told = ((address, read_drift(first[0])) for address, first in heads if first)
        return tuple(f"step '{address}': {drift}" for address, drift in told if drift)

    def _find_call_folders(self, run: str) -> Iterator[tuple[int, StepBegan, Path]]:
        for seq, event in agent_calls(events_by_one_clock(self.log, run)):
            starts = sorted((self.folder / run / str(seq)).glob(f"{SLOT}.[0-9]*"), key=lambda path: path.name)
            place = next((path for path in reversed(starts) if path.name.rpartition(".")[2].isdigit()), None)
            if place is not None:
                yield seq, event, place

    def _calls(self, root: str, run: str) -> Iterator[RecordedCall]:
        endings = _endings(event for _, event in events_by_one_clock(self.log, run))
        for seq, began, place in self._find_call_folders(run):
            ended = self.processes.look(str(place))
            if not isinstance(ended, Ended):
                continue
            prompt, model = str(began.spec["prompt"]), began.spec.get("model")
            yield RecordedCall(
                run=run.removeprefix(root),
                address=began.address,
                turn=int(str(began.spec["turn"])),
                agent=str(began.spec.get("agent")),
                model=model if isinstance(model, str) else None,
                prompt_digest=digest(prompt),
                prompt=prompt,
                lines=tuple(line.decode("utf-8", "surrogateescape") for line in self._lines(place)),
                exit_code=ended.exit_code,
                signal=ended.signal,
                seconds=round(max(0.0, endings[seq].at - began.at), 3) if seq in endings else 0.0,
                patch=self._patch(run, seq, endings.get(seq)),
            )

    def _lines(self, place: Path) -> list[bytes]:
        return self.processes.read_output(str(place), "stdout", MAX_TRANSCRIPT, tail=False).split(b"\n")[:-1]

    def _patch(self, run: str, seq: int, ended: StepEnded | StepRefused | QuestionAsked | None) -> str:
        tree, before = state_of(self.log, run).tree, state_before(self.log, run, seq).snapshot
        after = ended.details.get("snapshot") if isinstance(ended, StepEnded | StepRefused) else None
        if tree is None or not before or not isinstance(after, str) or before == after:
            return ""
        return self.redactor.text(self.workspaces.diff(tree, before, after))


def _endings(events: Iterator[Event]) -> dict[int, StepEnded | StepRefused | QuestionAsked]:
    return {event.began: event for event in events if isinstance(event, StepEnded | StepRefused | QuestionAsked)}
