"""The official MCP client for Python with the Worker, in both eras."""

import contextlib

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError, UrlElicitationRequiredError
from mcp_types import ElicitResult, TextContent

pytestmark = pytest.mark.anyio

VERSIONS = {"auto": "2026-07-28", "2026-07-28": "2026-07-28", "legacy": "2025-11-25"}
MODES = pytest.mark.parametrize("mode", VERSIONS)
MODERN = pytest.mark.parametrize("mode", ["auto", "2026-07-28"])
ISSUE = ("GitHub_CreateIssue", {"owner": "octocat", "repository": "hello-world", "title": "Found a bug"})


@contextlib.asynccontextmanager
async def connected(address, mode, path="/mcp", headers=None, **options):
    async with httpx2.AsyncClient(headers=headers, timeout=120) as http:
        transport = streamable_http_client(f"{address}{path}", http_client=http)
        async with Client(transport, mode=mode, **options) as client:
            yield client


@MODES
async def test_mc1_mc20_mc22_a_client_lists_and_calls_tools(address, mode):
    async with connected(address, mode) as client:
        assert client.protocol_version == VERSIONS[mode]
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert tools["Calculator_Add"].meta["toolbooth/id"] == "Calculator.Add@1.0.0"
        called = await client.call_tool("Calculator_Add", {"a": 2, "b": 40})
        assert called.structured_content == {"result": 42}
        assert called.content == [TextContent(text='{"result":42}')]
        assert not called.is_error


@MODES
async def test_mc23_mc24_a_client_sees_errors(address, mode):
    async with connected(address, mode) as client:
        wrong = await client.call_tool("Calculator_Add", {"a": 1})
        assert wrong.is_error
        assert "b: Is required" in wrong.content[0].text
        with pytest.raises(MCPError) as raised:
            await client.call_tool("Nowhere_Go", {})
        assert raised.value.error.code == -32602


@MODES
async def test_mc30_a_client_reads_resources(address, mode):
    async with connected(address, mode) as client:
        listed = {resource.name: resource for resource in (await client.list_resources()).resources}
        [document] = (await client.read_resource(listed["Text.Slugify@1.0.0"].uri)).contents
        assert document.text.startswith("# Make a slug\n")


@MODERN
async def test_mc40_a_user_is_asked_and_authorizes_a_tool(authorizing, mode):
    asked = []

    async def elicit(_, params):
        asked.append((params.mode, params.message))
        # Consent to open the link is not a grant: at first the user only consents.
        if len(asked) == 2:
            authorizing.grant(params.url)
        return ElicitResult(action="accept")

    headers = authorizing.new_user()
    async with connected(authorizing.address, mode, headers=headers, elicitation_callback=elicit) as client:
        made = await client.call_tool(*ISSUE)
    assert made.structured_content["number"] == 1347
    assert asked == [("url", "Authorization is required to access GitHub")] * 2


async def test_mc41_a_legacy_client_gets_an_error(authorizing):
    headers, path = authorizing.new_user(), "/mcp?elicitation=url"
    async with connected(authorizing.address, "legacy", path, headers) as client:
        with pytest.raises(MCPError) as raised:
            await client.call_tool(*ISSUE)
        [elicitation] = UrlElicitationRequiredError.from_error(raised.value.error).elicitations
        authorizing.grant(elicitation.url)
        assert (await client.call_tool(*ISSUE)).structured_content["number"] == 1347


@MODES
async def test_mc42_a_client_without_url_elicitation_gets_the_link_as_text(authorizing, mode):
    async with connected(authorizing.address, mode, headers=authorizing.new_user()) as client:
        result = await client.call_tool(*ISSUE)
        [message] = result.content
        url = result.meta["toolbooth/authorization"][0]["url"]
        assert result.is_error
        assert message.text.endswith(f"Ask the user to open this link, then call the tool again: {url}")
        authorizing.grant(url)
        assert (await client.call_tool(*ISSUE)).structured_content["number"] == 1347
