"""Finds out which facts about a pull request are new after it was opened or updated."""

from handrail.engine.fold.pull_requests import find_new_facts
from handrail.frozen import frozen
from handrail.model.history.run_state import RunState
from handrail.model.pull_request_facts import (
    BecameDraft,
    BecameReady,
    CommitsPushed,
    PullRequestFact,
    PullRequestOpened,
    PullRequestRecord,
    PullRequestReopened,
    PullRequestUpdated,
)
from handrail.model.pull_requests import PullRequest, PullRequestState
from handrail.ports.delivery import Pushed
from handrail.runtime.handlers.trackers.pull_request_place import Place


@frozen(kw_only=True)
class DoneWork:
    """What was done with a pull request, from which its new facts follow."""

    state: RunState
    step: str
    place: Place
    pushed: Pushed
    shown: PullRequest
    """The pull request as it is now."""
    closes: tuple[str, ...]
    text: str
    """What a person wrote for it."""
    now: float

    def find_facts(self, record: PullRequestRecord) -> tuple[PullRequestFact, ...]:
        """Return what is not recorded yet."""
        now, shown, pushed = self.now, self.shown, self.pushed
        if not record.seq:
            return (self._opened(),)
        facts: list[PullRequestFact] = []
        if record.status != "open" and shown.status == "open":
            facts.append(PullRequestReopened(at=now))
        if record.pushed != pushed.commit:
            facts.append(
                CommitsPushed(run=self.state.run, commit=pushed.commit, how=pushed.how, merged=pushed.merged, at=now)
            )
        known = (record.run, record.title, record.base, record.closes, record.text)
        if known != (self.state.run, shown.title, shown.base, self.closes, self.text):
            facts.append(self._updated())
        if record.draft != shown.draft:
            facts.append(BecameDraft(at=now) if shown.draft else BecameReady(at=now))
        return tuple(facts)

    def _opened(self) -> PullRequestOpened:
        tree, shown = self.state.tree, self.shown
        return PullRequestOpened(
            run=self.state.run,
            root=self.state.family,
            step=self.step,
            key=self.place.marker.key,
            url=shown.url,
            title=shown.title,
            head=self.place.branch,
            base=shown.base,
            commit=self.pushed.commit,
            draft=shown.draft,
            repository="" if tree is None else tree.repository,
            closes=self.closes,
            text=self.text,
            at=self.now,
        )

    def _updated(self) -> PullRequestUpdated:
        shown = self.shown
        return PullRequestUpdated(
            run=self.state.run,
            root=self.state.family,
            title=shown.title,
            base=shown.base,
            closes=self.closes,
            text=self.text,
            at=self.now,
        )


def find_news(known: PullRequestRecord, shown: PullRequestState, now: float) -> tuple[PullRequestFact, ...]:
    """Return what is new about a pull request that is recorded at all."""
    return find_new_facts(known, shown, now) if known.seq else ()
