"""The documentation site: ``make docs`` builds it in build/site, without the network; a warning is an error.

Sphinx reads the whole repository, so that the links of the pages lead to the same files here, on GitHub and on the
site: pages lie in docs/, notebooks in notebooks/ with the outputs that were committed.
"""

from __future__ import annotations

import os
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "docs" / "extensions"), str(ROOT)]
os.environ.setdefault("OMP_NUM_THREADS", "1")

import mahjong_env  # noqa: E402

_SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

project = "mahjong_env"
author = "mahjong_env contributors"
project_copyright = f"{author}; MIT licence"
release = version = mahjong_env.__version__
language = "en"

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "drawn_tiles",
    "front_door",
    "github_pages",
]
root_doc = "docs/index"
include_patterns = [
    "docs/**",
    "notebooks/*",
    "README.md",
    "README.zh.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "benchmarks/README.md",
]
exclude_patterns = [
    "notebooks/examples",
    "docs/extensions",
    "docs/static",
    ".venv",
    "build",
    "runs",
    "**/.ipynb_checkpoints",
]

# Markdown as GitHub reads it: anchors of all headings, tables.
myst_enable_extensions = ["strikethrough"]
myst_heading_anchors = 6
myst_heading_slug_func = "mahjong_env.rulebook.page.anchor"
nb_execution_mode = "off"  # notebooks are shown as they were committed; `make notebooks` executes them
nb_merge_streams = True

smartquotes = False  # quotation marks belong to what may be typed

# A word in single backticks is a name of ours where there is one of that name, and code where there is none.
default_role = "py:obj"
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "show-inheritance": True}
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
napoleon_numpy_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
napoleon_attr_annotations = False  # the types stand in the signature

# Where the workflow "Release" publishes the site: what shows a link to it asks there for the picture.
_OWNER, _NAME = _SETTINGS["project"]["urls"]["Repository"].rstrip("/").split("/")[-2:]
html_baseurl = os.environ.get("READTHEDOCS_CANONICAL_URL", f"https://{_OWNER}.github.io/{_NAME}/")

html_theme = "furo"
html_title = f"mahjong_env {release}"
html_static_path = ["static"]
html_extra_path = ["payoffs-light.svg", "payoffs-dark.svg"]  # which a page of standings names in HTML of its own
html_logo = html_favicon = "static/logo.svg"
html_css_files = ["site.css"]
html_js_files = [("sort_tables.js", {"defer": "defer"})]
html_show_sourcelink = False
html_copy_source = False
html_last_updated_fmt = None  # the same sources give the same site
html_theme_options = {
    "source_repository": _SETTINGS["project"]["urls"]["Repository"],
    "source_branch": "main",
    "source_directory": "",
}
pygments_style = "default"
pygments_dark_style = "github-dark"
copybutton_prompt_text = r"\$ |>>> "
copybutton_prompt_is_regexp = True
