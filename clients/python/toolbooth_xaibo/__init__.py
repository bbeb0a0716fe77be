"""Gives Xaibo agents the tools of a Toolbooth server."""

from .errors import ToolboothError, ToolError, ToolExecutionError, ToolNotFoundError, ToolParameterError
from .mock import MockToolProvider
from .provider import ToolboothProvider

__all__ = [
    "MockToolProvider",
    "ToolError",
    "ToolExecutionError",
    "ToolNotFoundError",
    "ToolParameterError",
    "ToolboothError",
    "ToolboothProvider",
]
