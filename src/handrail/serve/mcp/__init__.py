"""The MCP server, over stdio and streamable HTTP."""
