"""The client of FastMCP with the Worker."""

import pytest
from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport
from fastmcp.exceptions import ToolError

pytestmark = pytest.mark.anyio


async def test_mc21_a_wrapped_value_is_unwrapped(address):
    async with Client(f"{address}/mcp") as client:
        called = await client.call_tool("Calculator_Add", {"a": 2, "b": 40})
        assert called.structured_content == {"result": 42}
        assert called.data == 42


async def test_mc23_an_error_is_complete(address):
    async with Client(f"{address}/mcp") as client:
        with pytest.raises(ToolError) as raised:
            await client.call_tool("Doorbell_Ring", {"doorbell_id": "doorbell1"})
    assert str(raised.value) == "Doorbell ID not found. ids: doorbell42,doorbell84. Try again after 500 ms."


async def test_mc42_the_link_is_in_the_error(authorizing):
    transport = StreamableHttpTransport(f"{authorizing.address}/mcp", headers=authorizing.new_user())
    async with Client(transport) as client:
        with pytest.raises(ToolError, match="Ask the user to open this link, then call the tool again: http"):
            await client.call_tool(
                "GitHub_CreateIssue", {"owner": "octocat", "repository": "hello-world", "title": "Found a bug"}
            )
