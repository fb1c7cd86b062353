"""Writes down how a pull request should look: its title, text, labels and reviewers."""

from handrail.engine.text.host_text import clean_title
from handrail.frozen import frozen
from handrail.model.history.run_state import RunState
from handrail.model.issues import RepositoryRef
from handrail.model.pull_request_facts import PullRequestRecord
from handrail.model.pull_requests import PullRequest, PullRequestDraft
from handrail.model.secrets.redaction import Redactor
from handrail.ports.log import Log
from handrail.runtime.handlers.trackers.pull_request_outcome import PullRequestWish
from handrail.runtime.handlers.trackers.pull_request_place import Place
from handrail.runtime.handlers.trackers.pull_request_text import (
    TextParts,
    collect_evidence,
    find_issue,
    join_template,
    write_body,
)
from handrail.runtime.pull_request_log import read_record


@frozen
class DraftWriter:
    """Describes wanted pull requests."""

    log: Log
    redactor: Redactor

    async def write(
        self, state: RunState, wish: PullRequestWish, place: Place, existing: PullRequest | None
    ) -> PullRequestDraft:
        """Describe the wanted pull request; what people changed in the existing one stays."""
        record = PullRequestRecord() if existing is None else read_record(self.log, existing.ref.stream)
        title = clean_title(self.redactor.text(wish.title))
        before = "" if existing is None else existing.body
        template = await place.host.template(place.repository) if not before else ""
        text = self.redactor.text(write_body(self._collect_parts(state, wish, place)))
        # A title that a person changed stays until ours changes too.
        kept = existing is not None and record.title == title and existing.title
        return PullRequestDraft(
            repository=place.repository,
            head=place.branch,
            base=place.base,
            title=existing.title if existing is not None and kept else title,
            body=join_template(text, template, before),
            draft=wish.draft,
            labels=wish.labels,
            reviewers=wish.reviewers,
        )

    def _collect_parts(self, state: RunState, wish: PullRequestWish, place: Place) -> TextParts:
        issue = find_issue(state)
        refers = "" if issue is None else issue.refer_from(place.repository)
        return TextParts(
            text=wish.body or _last_words(state),
            issue=issue,
            task=state.task or str(state.inputs.get("task") or ""),
            closes=refers if find_closed_issues(state, wish, place.repository) else "",
            refers=refers,
            evidence=collect_evidence(self.log, state),
        )


def find_closed_issues(state: RunState, wish: PullRequestWish, repository: RepositoryRef) -> tuple[str, ...]:
    """Return the issue that merging closes: one of the same repository, if the run has done all that it asks for."""
    issue = find_issue(state)
    if issue is None or not wish.finishes or issue.place != str(repository) or not issue.number:
        return ()
    return (f"{issue.place}#{issue.number}",)


def _last_words(state: RunState) -> str:
    """Return what the last agent said about its work, where nobody wrote a text."""
    said = [step for step in state.steps.values() if step.agent and step.summary]
    return max(said, key=lambda step: step.began).summary if said else ""
