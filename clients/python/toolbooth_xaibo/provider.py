"""The tool provider: each of Xaibo's two methods is an HTTP request."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import aiohttp
from pydantic import TypeAdapter, ValidationError
from xaibo.core.models.tools import Tool, ToolResult
from xaibo.core.protocols.tools import ToolProviderProtocol

from .config import Config
from .errors import ToolboothError, of_result

_TOOLS = TypeAdapter(list[Tool])


class ToolboothProvider(ToolProviderProtocol):
    """Xaibo's tool provider for a Toolbooth server.

    ``config`` has ``url`` or ``base_url``, and optionally ``api_key``, ``headers``, ``timeout``, ``context`` and
    ``raise_errors``. Other names and invalid values raise ValueError.
    """

    # Xaibo injects a module for every annotation here except that of config, even for "-> None".
    def __init__(self, config: Mapping[str, Any] | None = None):
        self._config = Config.read(config)
        self._etag: str | None = None
        self._tools: list[Tool] = []

    async def list_tools(self) -> list[Tool]:
        """Returns the tools; raises ToolboothError.

        Xaibo calls this in every turn. The entity tag saves sending an unchanged list again.
        """
        headers = {} if self._etag is None else {"If-None-Match": self._etag}
        status, etag, body = await self._send("GET", "/tools", headers)
        if status == 304 and self._etag is not None:
            return list(self._tools)
        if status != 200:
            result = _result(body)
            raise ToolboothError((result and result.error) or f"{self._at('/tools')} returned {status}")
        try:
            tools = _TOOLS.validate_json(body)
        except ValidationError:
            problem = "did not return a list of tools; does config.url end in /xaibo?"
            raise ToolboothError(f"{self._at('/tools')} {problem}") from None
        self._etag, self._tools = etag, tools
        return list(tools)

    async def execute_tool(self, tool_name: str, parameters: dict[str, Any]) -> ToolResult:
        """Runs a tool. Any failure becomes the result's error, or with ``raise_errors`` a ToolError."""
        result = await self._execute(tool_name, parameters)
        if self._config.raise_errors and not result.success:
            raise of_result(result.error or "")
        return result

    async def _execute(self, tool_name: str, parameters: dict[str, Any]) -> ToolResult:
        call: dict[str, Any] = {"tool_name": tool_name, "parameters": parameters}
        if self._config.context is not None:
            call["context"] = self._config.context
        try:
            # JSON has neither NaN nor infinities.
            data = json.dumps(call, allow_nan=False).encode()
        except (TypeError, ValueError, RecursionError):
            return _failed("Invalid tool parameters: they must be JSON values")
        try:
            status, _, body = await self._send("POST", "/execute", {"Content-Type": "application/json"}, data)
        except ToolboothError as error:
            return _failed(f"Tool execution failed: {error}")
        failure = f"Tool execution failed: {self._at('/execute')} returned {status} without a result"
        return _result(body) or _failed(failure)

    def _at(self, path: str) -> str:
        """An address for messages: without user name and password."""
        scheme, _, rest = self._config.url.partition("://")
        return f"{scheme}://{rest.rpartition('@')[2]}{path}"

    async def _send(
        self, method: str, path: str, headers: Mapping[str, str], data: bytes | None = None
    ) -> tuple[int, str | None, bytes]:
        """Sends a request once; returns the status, the entity tag and the body."""
        # Each request has its own session: Xaibo does not report when an agent is done, and may use it
        # from several event loops.
        timeout = aiohttp.ClientTimeout(total=self._config.timeout)
        try:
            async with (
                aiohttp.ClientSession(timeout=timeout, headers=self._config.headers) as session,
                # A redirect could carry the headers to another server.
                session.request(
                    method, self._config.url + path, headers=headers, data=data, allow_redirects=False
                ) as reply,
            ):
                return reply.status, reply.headers.get("ETag"), await reply.read()
        except asyncio.TimeoutError:
            raise ToolboothError(f"{self._at(path)} did not respond within {self._config.timeout:g} seconds") from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise ToolboothError(f"{self._at(path)} could not be reached ({type(error).__name__})") from error


def _result(body: bytes) -> ToolResult | None:
    """The body as a ToolResult, if it is one."""
    try:
        return ToolResult.model_validate_json(body)
    except ValidationError:
        return None


def _failed(error: str) -> ToolResult:
    return ToolResult(success=False, error=error)
