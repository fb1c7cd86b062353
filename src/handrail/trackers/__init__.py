"""Where work comes from and goes to: issues and pull requests, local, on GitHub, in memory."""
