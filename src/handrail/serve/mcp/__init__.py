"""The MCP server, stdio and streamable HTTP."""
