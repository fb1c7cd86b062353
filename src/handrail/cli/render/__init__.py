"""Results as text, JSON documents and SARIF."""
