"""Flow graphs as text, Mermaid, SVG."""
