"""The sandbox of a repository's agents: `sandbox = "bwrap"`, or a table with its kind and whether it has a network."""

from typing import Any, cast, get_args

from handrail.model.diagnostics import Report
from handrail.model.workflow.settings import Sandbox
from handrail.sources.config.toml_file import TomlFile

KNOWN = ("kind", "network")


def read_sandbox(file: TomlFile, agent: dict[str, Any], report: Report) -> tuple[Sandbox, bool]:
    """Give the sandbox and whether agents reach the network out of it; what cannot be read keeps most to itself."""
    said = agent.get("sandbox", "none")
    table = cast("dict[str, Any]", said) if isinstance(said, dict) else {"kind": said}
    kind, network = table.get("kind"), table.get("network", True)
    if kind in get_args(Sandbox) and isinstance(network, bool) and not set(table) - set(KNOWN):
        return cast("Sandbox", kind), network
    message = "'sandbox' is none of none, bwrap, nor a table of kind and network"
    hint = 'write sandbox = "bwrap", or sandbox = {kind = "bwrap", network = false}'
    report.error("config-value", message, file.place("agent", "sandbox"), hint)
    return "bwrap", False
