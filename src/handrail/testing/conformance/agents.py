"""The behaviour that every agent adapter must show; run this suite against your own.

    from handrail.testing.conformance.agents import AgentConformance, Stream

    class TestMyAgent(AgentConformance):
        @pytest.fixture
        def agent(self):
            return MyAgent()

        @pytest.fixture
        def streams(self):                  # what the agent really printed; the more the better
            return [Stream("edit", (path / "edit.jsonl").read_bytes().splitlines())]

The agent's program need not do anything, but `launch` has to find it: put a file of its name on the PATH. Provide the
fixture `options` where a call needs some. An agent whose whole output is its answer and whose exit status tells how it
ended sets `tells_its_end = False`. pytest and hypothesis are required.
"""

from handrail.testing.conformance.agent_launch import LaunchConformance
from handrail.testing.conformance.agent_lines import LinesConformance
from handrail.testing.conformance.agent_streams import Stream

__all__ = ["AgentConformance", "Stream"]


class AgentConformance(LaunchConformance, LinesConformance):
    """The full suite for an agent's adapter; subclass it and provide the fixture `agent`."""
