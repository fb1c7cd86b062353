"""`handrail mcp`."""

import os
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from handrail.errors import HandrailError
    from handrail.serve.mcp.calls import Calls
    from handrail.serve.mcp.lazy_calls import LazyCalls
    from handrail.serve.mcp.resource_catalog import ResourceCatalog
    from handrail.serve.mcp.resource_handlers import OpenCatalog
    from handrail.serve.mcp.step_tool_calls import AgentCalls
    from handrail.serve.mcp.streamable_http import ServerAddress
    from handrail.serve.mcp.tool_result import ToolResult

_LATE = (
    "handrail.wiring.session",
    "handrail.serve.mcp.calls",
    "handrail.serve.mcp.call_context_factory",
    "handrail.serve.mcp.resource_catalog",
)
"""The modules that the first call of a client needs."""


@click.command("mcp", epilog="Example: claude mcp add handrail -- handrail mcp")
@click.option(
    "--http", "port", type=click.IntRange(0, 65535), metavar="PORT", help="Serve over HTTP; port 0 picks a free one."
)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on, with --http.")
@click.option("--token-file", type=click.Path(path_type=Path), help="File that contains the token for --http.")
@click.option("--agent", is_flag=True, help="Serve the tools of a step to its agent, which starts this command.")
@click.option(
    "--rotate-key", is_flag=True, help="Sign tokens of runs with a new key; those of the previous key stay valid."
)
def command(*, port: int | None, host: str, token_file: Path | None, agent: bool, rotate_key: bool) -> None:
    """Serve workflows to a connected agent: the Model Context Protocol on stdin and stdout."""
    if rotate_key:
        _rotate()
    elif agent:
        _serve_agent()
    elif port is not None:
        _serve_http(port, host, token_file)
    else:
        _serve_client()


def _serve_client() -> None:
    from handrail.serve.mcp.server import serve_stdio

    with ExitStack() as stack:
        calls = _late_calls(stack)
        serve_stdio(calls, open_catalog=_catalog_opener(calls, in_repository=True))


def _catalog_opener(calls: "LazyCalls[Calls]", *, in_repository: bool) -> "OpenCatalog":
    """Return a function that opens prompts and resources when they are first requested.

    A client that starts the server does so in the folder it works in; a client that connects over HTTP works anywhere.
    """

    async def open_catalog() -> "ResourceCatalog":
        from handrail.cli.options import current_place
        from handrail.serve.mcp.resource_catalog import ResourceCatalog

        ctx = (await calls.get_calls()).ctx
        return ResourceCatalog(ctx, current_place().repository if in_repository else None)

    return open_catalog


def _late_calls(stack: ExitStack) -> "LazyCalls[Calls]":
    """Return the calls of a client, loaded at its first call: until then the client is only greeted."""
    from handrail.serve.mcp.lazy_calls import LazyCalls

    def load() -> None:
        for name in _LATE:
            import_module(name)

    def open_calls() -> "Calls":
        from handrail.serve.mcp.call_context_factory import make_call_context
        from handrail.serve.mcp.calls import Calls
        from handrail.wiring.session import open_session

        # If anything fails here, the session is closed at once; otherwise it stays open as long as the outer stack.
        with ExitStack() as trial:
            session = trial.enter_context(open_session())
            calls = Calls(make_call_context(session.system, session.place))
            stack.push(trial.pop_all())
        return calls

    return LazyCalls(load, open_calls, _render_fault)


def _render_fault(error: "HandrailError | OSError") -> "ToolResult":
    from handrail.serve.mcp.answer_text import render_fault

    return render_fault(error)


def _serve_agent() -> None:
    """Serve the agent of a step; the environment says which tools it may use and who it is."""
    from handrail.serve.mcp.lazy_calls import LazyCalls
    from handrail.serve.mcp.server import serve_stdio
    from handrail.serve.mcp.step_tools import select_tools

    def load() -> None:
        for name in ("handrail.wiring.session", "handrail.serve.mcp.step_tool_calls"):
            import_module(name)

    with ExitStack() as stack:

        def open_calls() -> "AgentCalls":
            from handrail.serve.mcp.step_tool_calls import AgentCalls, open_call_handler
            from handrail.wiring.session import open_session

            with ExitStack() as trial:
                session = trial.enter_context(open_session())
                calls = AgentCalls(open_call_handler(session.system, session.place))
                stack.push(trial.pop_all())
            return calls

        serve_stdio(
            LazyCalls(load, open_calls, _render_fault), select_tools(os.environ.get("HANDRAIL_AGENT_TOOLS", ""))
        )


def _serve_http(port: int, host: str, token_file: Path | None) -> None:
    from handrail.cli.options import current_place
    from handrail.serve.mcp.http_connections import read_limits
    from handrail.serve.mcp.resource_handlers import ResourceHandlers
    from handrail.serve.mcp.server import server_of
    from handrail.serve.mcp.streamable_http import Address, serve_http
    from handrail.wiring.secret_files import bearer_token_path, read_bearer_token

    limits = read_limits(os.environ)
    path = token_file or bearer_token_path(current_place().folders.data)
    token = read_bearer_token(path)
    with ExitStack() as stack:
        calls = _late_calls(stack)
        server = server_of(calls, catalog=ResourceHandlers(_catalog_opener(calls, in_repository=False)))
        serve_http(server, token, Address(host, port), limits, lambda where: _tell(where, path))


def _tell(where: "ServerAddress", path: Path) -> None:
    from handrail.cli.output import note

    click.echo(f"serving MCP at {where.url} (Ctrl-C stops it)")
    click.echo(f"clients send the header Authorization: Bearer TOKEN; the token is in {path}")
    header = f'--header "Authorization: Bearer $(cat {path})"'
    click.echo(f"for example: claude mcp add --transport http handrail {where.url} {header}")
    if where.open_to_others:
        note("other machines can connect, and the token is sent unencrypted: put TLS in front of it")


def _rotate() -> None:
    from handrail.cli.options import current_place
    from handrail.wiring.secret_files import rotate_signing_keys

    rotate_signing_keys(current_place().folders.data)
    click.echo("tokens are now signed with a new key; those of the previous key stay valid, older ones do not")
    click.echo("running servers keep using the old key: restart them")
