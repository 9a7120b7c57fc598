"""Makes the generated parts of the repository: README tables, pages, pictures, notebooks, shipped policies."""
