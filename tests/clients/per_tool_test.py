"""The official MCP client for Python at a server with tools for everyone and tools that ask for a sign-in."""

from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from sign_in_test import Storage, provider

pytestmark = pytest.mark.anyio

OPEN, PROTECTED = "Fixture_Silent", "Fixture_Scoped"


async def test_a_protected_call_signs_in_and_goes_on(per_tool):
    auth, visited = provider(per_tool, Storage(), token_endpoint_auth_method="none")
    async with httpx2.AsyncClient(auth=auth, timeout=120) as http:
        transport = streamable_http_client(f"{per_tool.address}/mcp", http_client=http)
        async with Client(transport) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert tools[OPEN].meta["securitySchemes"] == [{"type": "noauth"}]
            scopes = ["fixture:run", "fixture:tell"]
            assert tools[PROTECTED].meta["securitySchemes"] == [{"type": "oauth2", "scopes": scopes}]
            assert not (await client.call_tool(OPEN, {})).is_error
            assert visited == [], "nobody was asked yet"
            called = await client.call_tool(PROTECTED, {})
            assert not called.is_error
            assert "api-key:Ada" in called.content[0].text
    [url] = visited
    [scope] = parse_qs(urlsplit(url).query)["scope"]
    assert set(scopes) <= set(scope.split(" "))
