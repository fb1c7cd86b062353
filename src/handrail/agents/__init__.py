"""Who does the work: one file per agent, behind the port in `handrail.ports.agents`."""
