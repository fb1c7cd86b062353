"""Flow graphs as text, Mermaid and SVG."""
