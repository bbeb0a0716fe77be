"""A tool provider for tests of agents, without a server."""

from collections.abc import Mapping
from typing import Any

from xaibo.core.models.tools import Tool, ToolResult


class MockToolProvider:
    """Returns the result that ``results`` has for a tool, and records each call in ``call_history``.

    A result that is an exception becomes an unsuccessful ``ToolResult``.
    """

    def __init__(self, tools: list[Tool], results: Mapping[str, Any]):
        self.tools = tools
        self.results = results
        self.call_history: list[tuple[str, dict[str, Any]]] = []

    async def list_tools(self) -> list[Tool]:
        """Returns the tools."""
        return self.tools

    async def execute_tool(self, tool_name: str, parameters: dict[str, Any]) -> ToolResult:
        """Returns the result of the tool."""
        self.call_history.append((tool_name, parameters))
        if tool_name not in self.results:
            return ToolResult(success=False, error=f"Tool {tool_name} not mocked")
        result = self.results[tool_name]
        if isinstance(result, Exception):
            return ToolResult(success=False, error=str(result))
        return ToolResult(success=True, result=result)
