"""Drawings of tiles and tables, as SVG and text, for environments, records, the viewer and the documentation."""
