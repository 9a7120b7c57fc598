"""Commands that make the generated parts of the repository: tables, pages, pictures, notebooks, shipped numbers."""
