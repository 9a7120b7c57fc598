"""A recorded match as one page that needs nothing but a browser."""

from mahjong_env.viewer.explained import Explained
from mahjong_env.viewer.page import notebook_html, show, viewer_html

__all__ = ["Explained", "notebook_html", "show", "viewer_html"]
