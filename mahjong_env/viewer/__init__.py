"""A recorded match as one page that needs nothing but a browser."""

from mahjong_env.viewer.page import notebook_html, viewer_html

__all__ = ["notebook_html", "viewer_html"]
