"""Xaibo agents with Xaibo's own MCP client, over its transport `sse`, with the Worker.

That client requests 2024-11-05, sends no protocol headers, only reads JSON, and treats a failed call
as a success (docs/PROTOCOLS.md). conftest.py defines the agents.
"""

import json
import re

import pytest
from conftest import uses
from xaibo.primitives.modules.tools.mcp_tool_provider import MCPToolProvider

pytestmark = pytest.mark.anyio

MODULE = "xaibo.primitives.modules.tools.mcp_tool_provider.MCPToolProvider"
ISSUE = ("booth--GitHub_CreateIssue", {"owner": "octocat", "repository": "hello-world", "title": "Found a bug"})


def tools(address, headers=None):
    """The configuration of Xaibo's MCP client."""
    server = {"name": "booth", "transport": "sse", "url": f"{address}/mcp", "headers": headers or {}}
    return {"module": MODULE, "config": {"timeout": 120.0, "servers": [server]}}


async def test_mc1_mc22_an_agent_lists_and_calls_tools(address, ask_agent):
    add = ("booth--Calculator_Add", {"a": 2, "b": 40})
    text, [result], functions = await ask_agent(tools(address), uses(add), {"content": "It is 42"})
    assert text == "It is 42"
    assert json.loads(json.loads(result)) == {"result": 42}
    shown = {function.name: function for function in functions}
    a = shown["booth--Calculator_Add"].parameters["a"]
    assert (a.type, a.required) == ("number", True)


async def test_mc20_no_schema_hides_tools_from_the_list(address):
    # The client silently stops at the first schema that its parameter model rejects.
    provider = MCPToolProvider(tools(address)["config"])
    listed = [tool.name for tool in await provider.list_tools()]
    client = provider.clients["booth"]
    assert listed == [f"booth--{tool['name']}" for tool in await client.list_tools()]
    await provider.disconnect_all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (("Doorbell_Ring", {"doorbell_id": "doorbell1"}), "Doorbell ID not found"),
        (("Calculator_Add", {"a": 1}), "The arguments are invalid. "),
        (("shout", {}), "Tool 'shout' was not found"),
    ],
)
async def test_mc23_mc24_the_model_sees_errors(address, ask_agent, call, message):
    name, arguments = call
    text, [result], _ = await ask_agent(tools(address), uses((f"booth--{name}", arguments)), {"content": "Done"})
    assert text == "Done"
    assert message in result


async def test_mc42_a_user_authorizes_a_tool(authorizing, ask_agent):
    booth = tools(authorizing.address, authorizing.new_user())
    _, [result], _ = await ask_agent(booth, uses(ISSUE), {"content": "Open the link"})
    message = json.loads(result)
    [url] = re.findall(r"Ask the user to open this link, then call the tool again: (\S+)", message)
    authorizing.grant(url)
    _, [result], _ = await ask_agent(booth, uses(ISSUE), {"content": "Done"})
    assert json.loads(json.loads(result))["number"] == 1347
