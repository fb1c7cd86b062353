"""The agents that do the work: one folder per agent, behind the port in `handrail.ports.agents`."""
