"""Where workflows are found: tiers, prompt files, bindings, trust, loading of trusted Python."""
