"""The exceptions of Xaibo's documentation, which Xaibo itself does not define."""


class ToolError(Exception):
    """Base of the exceptions of tools."""


class ToolNotFoundError(ToolError):
    """The tool does not exist, or the caller may not run it."""


class ToolExecutionError(ToolError):
    """The tool failed, or the call did not reach it."""


class ToolParameterError(ToolError):
    """The parameters are invalid."""


class ToolboothError(ToolError):
    """The server could not be reached, or its response is not that of a Toolbooth server."""


def of_result(error: str) -> ToolError:
    """The exception for the ``error`` of a ``ToolResult``."""
    if " not found. Available tools: [" in error or " may not be called" in error:
        return ToolNotFoundError(error)
    if error.startswith(("Invalid tool parameters", "parameters must be")):
        return ToolParameterError(error)
    return ToolExecutionError(error)
