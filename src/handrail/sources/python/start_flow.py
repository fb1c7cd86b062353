"""Starts the process in which the coroutine of a trusted `workflow.py` runs."""

from collections.abc import Mapping, Sequence

from handrail.processes.json_partner import JsonProcess, start_partner

HOST = "handrail.sources.python.flow_host"
"""The module of that process; it is imported only there, since it runs code of the user."""


async def start_flow(words: Sequence[str], env: Mapping[str, str]) -> JsonProcess:
    """Start the process of one coroutine; the words are only shown in the list of processes."""
    return await start_partner(HOST, words, env)
