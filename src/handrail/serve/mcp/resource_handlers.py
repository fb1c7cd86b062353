"""Answers other requests than tools: lists and texts of prompts, resources, completions, and changes of lists."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import anyio
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import PromptsListChanged, ResourcesListChanged
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CompleteRequestParams,
    CompleteResult,
    Completion,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    Prompt,
    PromptArgument,
    PromptMessage,
    PromptReference,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
    TextContent,
    TextResourceContents,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from handrail.errors import HandrailError

if TYPE_CHECKING:
    from handrail.operations.pull.workflow_prompts import WorkflowPrompt
    from handrail.serve.mcp.resource_catalog import ResourceCatalog

Context: TypeAlias = "ServerRequestContext[dict[str, object]]"
OpenCatalog: TypeAlias = Callable[[], Awaitable["ResourceCatalog"]]
T = TypeVar("T")
MARKDOWN = "text/markdown"
POLL_INTERVAL = 2.0
"""Seconds between two checks whether a list that a client has received has changed."""
MAX_VALUES = 100
"""The number of completions in one answer; the protocol allows no more."""


@dataclass(slots=True)
class ListChangeNotifier:
    """Notifies a client over a lasting connection that a list has changed since the client received it."""

    open_catalog: OpenCatalog
    begin: Callable[[], object]
    """Runs `run` beside the answers; called once a client has asked for a list."""
    session: ServerSession | None = None
    """The client's session, if it takes such notifications without having asked for them."""
    told: dict[str, object] = field(default_factory=dict[str, object])
    bus: InMemorySubscriptionBus = field(default_factory=InMemorySubscriptionBus)

    def note(self, context: Context, kind: str, value: object) -> None:
        """Remember which list a client received."""
        is_first = not self.told
        self.told[kind] = value
        if context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            self.session = context.session
        if is_first:
            self.begin()

    async def listen(self, context: Context, params: SubscriptionsListenRequestParams) -> SubscriptionsListenResult:
        """Notify a client of the newest protocol, which asks for it, as long as it listens."""
        catalog = await self.open_catalog()
        self.note(context, "prompts", catalog.prompts())
        self.note(context, "resources", catalog.resources())
        return await ListenHandler(self.bus)(context, params)

    async def run(self) -> None:
        """Check for changes until the connection ends."""
        stamp: object = None
        while True:
            await anyio.sleep(POLL_INTERVAL)
            try:
                stamp = await self._look(stamp)
            except Exception:  # noqa: BLE001 - whatever went wrong, the client asks again when it needs a list
                stamp = None

    async def _look(self, before: object) -> object:
        catalog = await self.open_catalog()
        stamp = catalog.stamp()
        if before == stamp and stamp[0] is not None:
            return stamp
        now: dict[str, object] = {"prompts": catalog.prompts(), "resources": catalog.resources()}
        for kind in [kind for kind, value in self.told.items() if now[kind] != value]:
            self.told[kind] = now[kind]
            await self._tell(kind)
        return stamp

    async def _tell(self, kind: str) -> None:
        await self.bus.publish(PromptsListChanged() if kind == "prompts" else ResourcesListChanged())
        if self.session is not None and kind == "prompts":
            await self.session.send_prompt_list_changed()
        elif self.session is not None:
            await self.session.send_resource_list_changed()


@dataclass(slots=True)
class ResourceHandlers:
    """Answers with the contents of a catalog."""

    open_catalog: OpenCatalog
    watch: ListChangeNotifier | None = None

    def add_to(self, server: "Server[dict[str, object]]") -> None:
        """Register the handlers of these requests with a server."""
        server.add_request_handler("prompts/list", PaginatedRequestParams, self.list_prompts)
        server.add_request_handler("prompts/get", GetPromptRequestParams, self.get_prompt)
        server.add_request_handler("resources/list", PaginatedRequestParams, self.list_resources)
        server.add_request_handler("resources/templates/list", PaginatedRequestParams, self.list_templates)
        server.add_request_handler("resources/read", ReadResourceRequestParams, self.read_resource)
        server.add_request_handler("completion/complete", CompleteRequestParams, self.complete)
        if self.watch is not None:
            server.add_request_handler("subscriptions/listen", SubscriptionsListenRequestParams, self.watch.listen)

    async def list_prompts(self, context: Context, _: PaginatedRequestParams) -> ListPromptsResult:
        """List the workflows that can be started."""
        found = await self._ask(lambda catalog: catalog.prompts())
        self._note(context, "prompts", found)
        return ListPromptsResult(prompts=[_convert_prompt(each) for each in found])

    async def get_prompt(self, _: Context, params: GetPromptRequestParams) -> GetPromptResult:
        """Return the text that starts a workflow."""
        text = await self._ask(lambda catalog: catalog.prompt(params.name, params.arguments or {}))
        return GetPromptResult(messages=[PromptMessage(role="user", content=TextContent(text=text))])

    async def list_resources(self, context: Context, _: PaginatedRequestParams) -> ListResourcesResult:
        """List runs and references."""
        found = await self._ask(lambda catalog: catalog.resources())
        self._note(context, "resources", found)
        rows = [Resource(uri=at.uri, name=at.name, description=at.description, mime_type=MARKDOWN) for at in found]
        return ListResourcesResult(resources=rows)

    async def list_templates(self, _: Context, __: PaginatedRequestParams) -> ListResourceTemplatesResult:
        """List how the addresses of resources are built."""
        found = await self._ask(lambda catalog: catalog.templates)
        rows = [
            ResourceTemplate(uri_template=at.uri, name=at.name, description=at.description, mime_type=MARKDOWN)
            for at in found
        ]
        return ListResourceTemplatesResult(resource_templates=rows)

    async def read_resource(self, _: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        """Return the text of a resource."""
        uri = str(params.uri)
        text = await self._ask(lambda catalog: catalog.read(uri))
        return ReadResourceResult(contents=[TextResourceContents(uri=uri, mime_type=MARKDOWN, text=text)])

    async def complete(self, _: Context, params: CompleteRequestParams) -> CompleteResult:
        """Complete an argument of a prompt, or a variable of an address."""
        of = params.ref.name if isinstance(params.ref, PromptReference) else params.ref.uri
        known = (params.context.arguments if params.context is not None else None) or {}
        argument = params.argument
        found = await self._ask(lambda catalog: catalog.complete(of, argument.name, argument.value, known))
        shown = list(found[:MAX_VALUES])
        return CompleteResult(completion=Completion(values=shown, total=len(found), has_more=len(found) > len(shown)))

    def _note(self, context: Context, kind: str, found: object) -> None:
        if self.watch is not None:
            self.watch.note(context, kind, found)

    async def _ask(self, question: "Callable[[ResourceCatalog], T]") -> T:
        """Answer a question; whatever is wrong becomes an error of the protocol, with what to do about it."""
        try:
            return question(await self.open_catalog())
        except HandrailError as error:
            words = "; ".join(part for part in (error.message, error.next_step) if part)
            raise MCPError(INVALID_PARAMS, _make_sendable(words)) from error
        except OSError as error:
            raise MCPError(INTERNAL_ERROR, _make_sendable(f"this cannot be read now: {error}")) from error


def _convert_prompt(each: "WorkflowPrompt") -> Prompt:
    # No argument is required: a client would refuse the command, while the agent takes the goal from what was said
    # before, and asks for the rest.
    arguments = [PromptArgument(name=at.name, description=at.description, required=False) for at in each.arguments]
    return Prompt(name=each.name, title=each.title, description=each.description, arguments=arguments)


def _make_sendable(text: str) -> str:
    return text.encode(errors="replace").decode()
