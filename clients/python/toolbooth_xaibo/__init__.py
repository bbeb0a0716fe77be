"""The tools of a Toolbooth server, for Xaibo agents."""

from .provider import ToolboothError, ToolboothProvider

__all__ = ["ToolboothError", "ToolboothProvider"]
