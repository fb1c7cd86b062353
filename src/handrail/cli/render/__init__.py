"""Results as text, JSON documents, SARIF."""
