"""Commands that begin something: init, run, mcp, doctor."""
