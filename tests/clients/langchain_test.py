"""LangChain's clients of tool servers with the Worker: universal-tool-client and langchain-tool-client."""

import httpx
import pytest
from langchain_tool_client import get_client
from universal_tool_client import get_async_client, get_sync_client


@pytest.fixture
def url(address):
    return f"{address}/langchain"


@pytest.fixture
def client(url):
    return get_sync_client(url=url)


@pytest.fixture
def anyio_backend():
    return "asyncio"


def test_lc1_lc2_tools_become_langchain_tools(client):
    tools = {tool.name: tool for tool in client.tools.as_langchain_tools()}
    add = tools["Calculator_Add"]
    assert set(add.args) == {"a", "b"}
    assert add.invoke({"a": 2, "b": 40}) == 42


@pytest.mark.anyio
async def test_lc1_lc2_tools_become_asynchronous_langchain_tools(url):
    client = get_async_client(url=url)
    [add] = await client.tools.as_langchain_tools(tool_ids=["Calculator_Add"])
    assert await add.ainvoke({"a": 2, "b": 40}) == 42


def test_lc4_a_failed_tool_raises(client):
    [ring] = client.tools.as_langchain_tools(tool_ids=["Doorbell_Ring"])
    with pytest.raises(NotImplementedError):
        ring.invoke({"doorbell_id": "doorbell1"})
    failed = client.tools.call("Doorbell_Ring", {"doorbell_id": "doorbell1"})
    assert failed["error"]["message"] == "Doorbell ID not found"


def test_lc5_a_rejected_call_raises_with_the_reason(client):
    with pytest.raises(httpx.HTTPStatusError) as raised:
        client.tools.call("Calculator_Add", {"a": 1})
    assert raised.value.response.status_code == 422
    assert "Is required" in raised.value.__notes__[0]


@pytest.mark.anyio
@pytest.mark.parametrize(("mount", "tool_id"), [("/langchain", "Calculator_Add"), ("/otc", "Calculator.Add")])
async def test_lc6_the_user_is_next_to_the_tool(address, mount, tool_id):
    client = get_client(f"{address}{mount}", mcp=False)
    reply = await client.tools.call(tool_id, {"a": 2, "b": 40}, user_id="ada", call_id="7")
    result = reply if mount == "/langchain" else reply["result"]
    assert (result["call_id"], result["value"]) == ("7", 42)


def test_lc7_health_and_info(client):
    assert client.health() == {"status": "OK"}
    assert client.info()["version"].count(".") == 2
