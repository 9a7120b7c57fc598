"""Pictures: tiles and tables as SVG, drawn once and used by environments, records, the viewer and the documentation."""
