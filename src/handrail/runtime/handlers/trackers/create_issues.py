"""Creates the issues of a step: one recorded fact for each, durable before the next one is created.

1. The place is chosen once, and recorded before anything is created.
2. Each issue has a marker, by which the tracker finds it again if the process ended before its fact was recorded. The
   marker is that of the run, the step and the issue in the list: a rewind and a second pass find the same issues.
3. Dependencies are set when all issues exist; setting one again changes nothing.
"""

import asyncio
import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, cast

from handrail.engine.fold.step_tools import Call
from handrail.errors import NoToken
from handrail.frozen import frozen
from handrail.model.history.events import ToolCalled
from handrail.model.history.run_state import Pending, RunState
from handrail.model.issues import LOCAL, IssueDraft, IssueRef, Marker, parse_issue_ref
from handrail.model.workflow.values import JsonValue
from handrail.ports.environments import RunEnvironments
from handrail.ports.log import Log
from handrail.ports.trackers import Tracker, TrackerCatalog
from handrail.ports.workspaces import Workspaces
from handrail.runtime.event_records import decode_event
from handrail.runtime.handlers.trackers.issue_drafts import ListedIssue
from handrail.runtime.handlers.trees import run_in_thread
from handrail.runtime.run_writer import RunWriter

CHOSE, CREATED = "choose_tracker", "create_issue"
"""The names of the facts, in the form of tool calls."""
MAX_WAIT = 10.0
"""Seconds for the driver to record the last fact, so that it comes before the end of the step."""
_PAUSE = 0.01


@frozen
class CreatedIssue:
    """An issue that exists."""

    draft: ListedIssue
    ref: IssueRef
    url: str

    @property
    def output(self) -> dict[str, JsonValue]:
        """What the step returns about it."""
        number = int(self.ref.id) if self.ref.id.isdecimal() else 0
        return {
            "id": self.ref.id,
            "number": number,
            "title": self.draft.title,
            "body": self.draft.body,
            "labels": list(self.draft.labels),
            "url": self.url,
            "state": "open",
            "tracker": self.ref.place,
        }


@frozen
class IssueCreator:
    """Creates issues for the steps of runs."""

    log: Log
    workspaces: Workspaces
    environments: RunEnvironments
    catalog: TrackerCatalog
    setting: Callable[[str], str]
    """Returns which tracker is configured for a repository: `local`, `remote`, or nothing."""

    async def create(self, state: RunState, pending: Pending, drafts: list[ListedIssue]) -> list[CreatedIssue]:
        """Create what does not exist yet, in order, and set the dependencies."""
        facts = self._facts(state.run, pending)
        place = str(facts.get(CHOSE, {}).get("place") or await self._choose_place(state))
        self._record(state.run, pending, CHOSE, CHOSE, {"place": place})
        tracker = self.catalog.tracker(place, state.run)
        created: dict[str, CreatedIssue] = {}
        for draft in drafts:
            known = facts.get(draft.key)
            found = _recall(draft, known) if known is not None else await self._create(state, tracker, draft, created)
            created[draft.key] = found
            fact: dict[str, JsonValue] = {"place": found.ref.place, "id": found.ref.id, "url": found.url}
            self._record(state.run, pending, draft.key, CREATED, {**fact, "title": draft.title})
        for draft in drafts:
            for on in draft.after:
                await tracker.add_dependency(created[draft.key].ref, created[on].ref)
        await self._wait_for_facts(state.run, pending, len(drafts))
        return list(created.values())

    async def _create(
        self, state: RunState, tracker: Tracker, draft: ListedIssue, created: dict[str, CreatedIssue]
    ) -> CreatedIssue:
        redactor = self.environments.environment_of(state.run).redactor
        address = "" if state.pending is None else state.pending.address
        own = parse_issue_ref(state.issue) if state.issue else None
        # Of the issues that exist already, a list may name only the one that the run works on as a parent.
        is_own = own is not None and draft.within.removeprefix("#") == own.id
        parent = created[draft.parent].ref.id if draft.parent else own.id if own is not None and is_own else ""
        note = f"\n\nparent: {draft.within}" if draft.within and not is_own else ""
        wanted = IssueDraft(
            title=redactor.text(draft.title),
            body=redactor.text(draft.body + note).strip(),
            labels=draft.labels,
            parent=parent,
            priority=draft.priority,
            kind=draft.kind,
        )
        ref = await tracker.create(wanted, Marker(what="issue", key=f"{state.run}/{address}/{draft.key}"))
        return CreatedIssue(draft, ref, (await tracker.read(ref)).url)

    async def _choose_place(self, state: RunState) -> str:
        """Return where the issues belong: to the run's own issue, else to what is configured, else to the code host."""
        own = parse_issue_ref(state.issue) if state.issue else None
        if own is not None:
            return own.place
        tree = state.tree
        setting = self.setting(tree.repository if tree is not None else state.workspace)
        if tree is None or setting == LOCAL:
            return self.catalog.own_place(state.run)
        remote = await run_in_thread(self.workspaces.remote, tree)
        url = await run_in_thread(self.workspaces.remote_url, tree, remote) if remote else ""
        repository = self.catalog.repository_of(url, state.run) if url else None
        if repository is None:
            return self.catalog.own_place(state.run)
        try:
            await self.catalog.tracker(str(repository), state.run).me()
        except NoToken:
            if setting == "remote":
                raise
            return self.catalog.own_place(state.run)
        return str(repository)

    def _facts(self, run: str, pending: Pending) -> dict[str, dict[str, Any]]:
        """Return what is recorded of the step so far, by key: events, and messages that the driver has not read yet."""
        prefix = f"issues:{pending.seq}:"
        later = map(decode_event, self.log.read(run, after=pending.seq))
        events = [each for each in later if isinstance(each, ToolCalled)]
        found = {each.call.removeprefix(prefix): each.arguments for each in events if each.call.startswith(prefix)}
        for message in self.log.inbox(run):
            if message.key.startswith(prefix):
                data = json.loads(message.payload)
                found[message.key.removeprefix(prefix)] = data["call"]["arguments"]
        return cast("dict[str, dict[str, Any]]", found)

    def _record(self, run: str, pending: Pending, key: str, tool: str, facts: dict[str, JsonValue]) -> None:
        """Record a fact once: it is durable when this returns, and becomes an event when the driver looks."""
        call = Call(
            call=f"issues:{pending.seq}:{key}",
            seq=pending.seq,
            address=pending.address,
            tool=tool,
            arguments=facts,
            result=facts,
        )
        writer = RunWriter(self.log, self.environments.environment_of(run).redactor)
        writer.send(run, call.call, "tool", call=asdict(call), letter=None)

    async def _wait_for_facts(self, run: str, pending: Pending, count: int) -> None:
        prefix = f"issues:{pending.seq}:"
        for _ in range(int(MAX_WAIT / _PAUSE) if count else 0):
            if not any(message.key.startswith(prefix) for message in self.log.inbox(run)):
                return
            await asyncio.sleep(_PAUSE)


def _recall(draft: ListedIssue, fact: dict[str, Any]) -> CreatedIssue:
    return CreatedIssue(draft, IssueRef(str(fact["place"]), str(fact["id"])), str(fact.get("url", "")))
