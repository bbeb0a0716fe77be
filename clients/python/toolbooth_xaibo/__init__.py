"""Gives Xaibo agents the tools of a Toolbooth server."""

from .provider import ToolboothError, ToolboothProvider

__all__ = ["ToolboothError", "ToolboothProvider"]
