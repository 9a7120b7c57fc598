"""Recorded matches and explained hands as pages that need only a browser."""

from mahjong_env.viewer.explained import Explained
from mahjong_env.viewer.page import notebook_html, show, viewer_html

__all__ = ["Explained", "notebook_html", "show", "viewer_html"]
