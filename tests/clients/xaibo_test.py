"""Xaibo itself, using the package in clients/python, with the Worker.

conftest.py defines the agents.
"""

import asyncio
import json
from functools import partial

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from conftest import uses
from toolbooth_xaibo import (
    MockToolProvider,
    ToolboothError,
    ToolboothProvider,
    ToolError,
    ToolExecutionError,
    ToolNotFoundError,
    ToolParameterError,
)
from xaibo.core.models.tools import Tool, ToolResult
from xaibo.core.protocols.tools import ToolProviderProtocol

pytestmark = pytest.mark.anyio


@pytest.fixture
def provider(address):
    return ToolboothProvider({"url": f"{address}/xaibo"})


# The protocol and its models


async def test_xb1_the_provider_satisfies_the_protocol(provider):
    assert isinstance(provider, ToolProviderProtocol)


async def test_xb2_every_listed_tool_is_a_tool(address, provider):
    async with aiohttp.ClientSession() as session, session.get(f"{address}/xaibo/tools") as reply:
        listed = await reply.json()
    tools = [Tool.model_validate(tool) for tool in listed]
    assert [tool.model_dump(exclude_unset=True) for tool in tools] == listed, "nothing is dropped"
    assert await provider.list_tools() == tools
    names = [tool.name for tool in tools]
    assert "Calculator_Add" in names
    assert len(set(names)) == len(names)


async def test_xb3_parameters_have_type_description_and_required(provider):
    tools = {tool.name: tool for tool in await provider.list_tools()}
    a = tools["Calculator_Add"].parameters["a"]
    assert (a.type, a.description, a.required, a.default, a.enum) == ("number", "The first number.", True, None, None)


@pytest.mark.parametrize(
    ("tool", "parameters", "success", "expected"),
    [
        ("Calculator_Add", {"a": 2, "b": 40}, True, 42),
        ("Calculator_Add__1_0_0", {"a": 2**63, "b": 1}, True, 2**63 + 1),
        ("Calculator.Add@1.0.0", {"a": 0.5, "b": 0.25}, True, 0.75),
        ("Doorbell_Ring", {"doorbell_id": "doorbell1"}, False, "Tool execution failed: Doorbell ID not found."),
        ("Calculator_Add", {"a": "x"}, False, "Invalid tool parameters: b: Is required; a: Must be a number"),
        ("shout", {}, False, "Tool 'shout' not found. Available tools: ['Calculator_Add', "),
        ("Calculator_Add", {"a": float("nan"), "b": 1}, False, "Invalid tool parameters: they must be JSON values"),
        ("Calculator_Add", {"a": object(), "b": 1}, False, "Invalid tool parameters: they must be JSON values"),
        ("Calculator_Add", [1], False, "parameters must be an object"),
    ],
)
async def test_xb4_every_response_is_a_tool_result(provider, tool, parameters, success, expected):
    result = await provider.execute_tool(tool, parameters)
    assert isinstance(result, ToolResult)
    assert result.success is success
    if success:
        assert (result.result, result.error) == (expected, None)
    else:
        assert result.result is None
        assert result.error.startswith(expected)


async def test_xb10_every_rejection_over_http_is_a_tool_result(address):
    call = {"tool_name": "Calculator_Add", "parameters": {"a": 1, "b": 2}}
    async with aiohttp.ClientSession(f"{address}/xaibo/") as session:
        for method, path, options, status in [
            ("GET", "nothing", {}, 404),
            ("GET", "execute", {}, 405),
            ("POST", "tools", {"json": call}, 405),
            ("POST", "execute", {"data": json.dumps(call)}, 415),
            ("POST", "execute", {"json": {}}, 400),
            ("POST", "execute", {"json": [" " * 300_000]}, 413),
        ]:
            async with session.request(method, path, **options) as reply:
                assert reply.status == status
                result = ToolResult.model_validate(await reply.json())
                assert result.error and not result.success


# Agents

@pytest.fixture
def ask(address, ask_agent):
    """Runs an agent with the package's provider."""
    return partial(ask_agent, {"module": "toolbooth_xaibo.ToolboothProvider", "config": {"url": f"{address}/xaibo"}})


ADD = ("Calculator_Add", {"a": 2, "b": 40})


async def test_xb12_an_agent_calls_a_tool(ask, provider):
    text, results, functions = await ask(uses(ADD), {"content": "It is 42"})
    assert text == "It is 42"
    assert results == ["42"]
    assert functions == await provider.list_tools(), "what the model is shown"


@pytest.mark.parametrize(
    ("responses", "expected"),
    [
        ([uses(ADD, ("Text_Slugify", {"text": "Hello World"}))], ["42", '{"slug": "hello-world"']),
        ([uses(ADD), uses(("Calculator_Add", {"a": 42, "b": 1}))], ["42", "43"]),
        (
            [uses(("Doorbell_Ring", {"doorbell_id": "doorbell1"}), ADD)],
            ["Error: Tool execution failed: Doorbell ID not found.", "42"],
        ),
        ([uses(("shout", {}))], ["Error: Tool 'shout' not found. Available tools: ["]),
        ([uses(("Calculator_Add", {"a": 1}))], ["Error: Invalid tool parameters: b: Is required"]),
    ],
    ids=["two calls", "two turns", "a failing tool and another", "an unknown tool", "wrong parameters"],
)
async def test_xb12_the_model_sees_the_results_of_its_calls(ask, responses, expected):
    text, results, _ = await ask(*responses, {"content": "Done"})
    assert text == "Done"
    assert len(results) == len(expected)
    for result, start in zip(results, expected, strict=True):
        assert result.startswith(start)


async def test_xb7_the_model_sees_the_hints_of_a_failed_tool(ask):
    _, [result], _ = await ask(uses(("Doorbell_Ring", {"doorbell_id": "doorbell1"})), {"content": "Done"})
    assert "doorbell42" in result
    assert result.endswith("Try again after 500 ms.")


# Transport between the agent and the server


@pytest.fixture
async def stand_in():
    """A server with responses chosen by the test, which records its requests."""
    asked = []
    answers = []

    async def answer(request):
        asked.append((request.method, request.path, dict(request.headers), await request.text()))
        return await answers[min(len(asked), len(answers)) - 1](request)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    async with TestServer(app) as server:
        server.asked, server.answers = asked, answers
        yield server


def answers(status=200, body="", **headers):
    async def answer(_):
        return web.Response(status=status, text=body, headers=headers)

    return answer


async def breaks_off(request):
    request.transport.abort()
    return web.Response()


async def never(_):
    await asyncio.Event().wait()


def timeout_for(answer):
    """A timeout in seconds: short only if there is no response, because a busy machine may be slow."""
    return 0.2 if answer is never else 60


TOOLS = '[{"name": "a", "description": "A", "parameters": {}}]'
DONE = '{"success": true, "result": 1, "error": null}'


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (answers(body="<html>"), "/x/execute returned 200 without a result"),
        (answers(body="[]"), "/x/execute returned 200 without a result"),
        (answers(500, '{"message": "The tool server failed"}'), "/x/execute returned 500 without a result"),
        (answers(502), "/x/execute returned 502 without a result"),
        (answers(307, Location="/elsewhere"), "/x/execute returned 307 without a result"),
        (breaks_off, "/x/execute could not be reached (ServerDisconnectedError)"),
        (never, "/x/execute did not respond within 0.2 seconds"),
    ],
)
async def test_xb13_a_failed_call_is_a_tool_result(stand_in, answer, message):
    stand_in.answers.append(answer)
    provider = ToolboothProvider({"url": str(stand_in.make_url("/x/")), "timeout": timeout_for(answer)})
    result = await provider.execute_tool("a", {})
    base = str(stand_in.make_url("")).rstrip("/")
    assert result == ToolResult(success=False, error=f"Tool execution failed: {base}{message}")
    assert len(stand_in.asked) == 1, "the call is sent once"


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (answers(body="{}"), "did not return a list of tools; does config.url end in /xaibo?"),
        (answers(body='[{"name": "a"}]'), "did not return a list of tools"),
        (answers(body="<html>"), "did not return a list of tools"),
        (answers(304), "/x/tools returned 304"),
        (answers(500), "/x/tools returned 500"),
        (answers(503, '{"success": false, "result": null, "error": "It is down"}'), "It is down"),
        (breaks_off, "/x/tools could not be reached (ServerDisconnectedError)"),
        (never, "/x/tools did not respond within 0.2 seconds"),
    ],
)
async def test_xb13_a_failed_list_is_an_error(stand_in, answer, message):
    stand_in.answers.append(answer)
    provider = ToolboothProvider({"url": str(stand_in.make_url("/x")), "timeout": timeout_for(answer)})
    with pytest.raises(ToolboothError) as raised:
        await provider.list_tools()
    assert message in str(raised.value)


async def test_xb13_no_server():
    provider = ToolboothProvider({"url": "http://user:secret@127.0.0.1:9/xaibo"})
    with pytest.raises(ToolboothError) as raised:
        await provider.list_tools()
    assert str(raised.value) == "http://127.0.0.1:9/xaibo/tools could not be reached (ClientConnectorError)"
    result = await provider.execute_tool("a", {})
    assert "secret" not in result.error


async def test_xb11_the_list_is_requested_each_time_and_sent_if_it_changed(stand_in):
    stand_in.answers += [answers(body=TOOLS, ETag='"1"'), answers(304), answers(body="[]", ETag='"2"'), answers(304)]
    provider = ToolboothProvider({"url": str(stand_in.make_url("/x"))})
    lists = [await provider.list_tools() for _ in range(4)]
    assert [[tool.name for tool in tools] for tools in lists] == [["a"], ["a"], [], []]
    assert [headers.get("If-None-Match") for _, _, headers, _ in stand_in.asked] == [None, '"1"', '"1"', '"2"']


async def test_xb11_the_server_recognizes_its_own_tag(provider):
    first = await provider.list_tools()
    assert first and await provider.list_tools() == first


async def test_xb8_headers_and_context_are_sent(stand_in):
    stand_in.answers += [answers(body=TOOLS), answers(body=DONE)]
    context = {"user_id": "u", "secrets": [{"id": "KEY", "value": "k"}]}
    headers = {"Authorization": "Bearer x"}
    provider = ToolboothProvider({"url": str(stand_in.make_url("/x")), "headers": headers, "context": context})
    await provider.list_tools()
    assert (await provider.execute_tool("a", {"b": [1]})).result == 1
    assert [(method, path) for method, path, _, _ in stand_in.asked] == [("GET", "/x/tools"), ("POST", "/x/execute")]
    assert all(sent["Authorization"] == "Bearer x" for _, _, sent, _ in stand_in.asked)
    _, _, sent, body = stand_in.asked[1]
    assert sent["Content-Type"] == "application/json"
    assert json.loads(body) == {"tool_name": "a", "parameters": {"b": [1]}, "context": context}


@pytest.mark.parametrize("path", ["", "/", "/xaibo", "/xaibo/"])
async def test_xb8_base_url_and_api_key(stand_in, path):
    stand_in.answers.append(answers(body=TOOLS))
    base = str(stand_in.make_url("")).rstrip("/")
    await ToolboothProvider({"base_url": base + path, "api_key": "k", "headers": {"X": "y"}}).list_tools()
    [(_, path, headers, _)] = stand_in.asked
    assert path == "/xaibo/tools"
    assert (headers["Authorization"], headers["X"]) == ("Bearer k", "y")


@pytest.mark.parametrize(
    ("tool", "parameters", "expected"),
    [
        ("shout", {}, ToolNotFoundError),
        ("Calculator_Add", {"a": "x"}, ToolParameterError),
        ("Calculator_Add", [1], ToolParameterError),
        ("Doorbell_Ring", {"doorbell_id": "doorbell1"}, ToolExecutionError),
    ],
)
async def test_xb4_errors_can_be_raised(address, tool, parameters, expected):
    provider = ToolboothProvider({"base_url": address, "raise_errors": True})
    assert (await provider.execute_tool(*ADD)).result == 42
    with pytest.raises(ToolError) as raised:
        await provider.execute_tool(tool, parameters)
    assert type(raised.value) is expected
    result = await ToolboothProvider({"base_url": address}).execute_tool(tool, parameters)
    assert str(raised.value) == result.error


async def test_the_mock_of_the_documentation():
    tools = [Tool(name="test_tool", description="A test tool", parameters={})]
    mock = MockToolProvider(tools, {"test_tool": {"message": "success"}, "bad": ToolExecutionError("It broke")})
    assert isinstance(mock, ToolProviderProtocol)
    assert await mock.list_tools() == tools
    assert await mock.execute_tool("test_tool", {"a": 1}) == ToolResult(success=True, result={"message": "success"})
    assert await mock.execute_tool("bad", {}) == ToolResult(success=False, error="It broke")
    assert await mock.execute_tool("other", {}) == ToolResult(success=False, error="Tool other not mocked")
    assert mock.call_history == [("test_tool", {"a": 1}), ("bad", {}), ("other", {})]


URL = "http://127.0.0.1:9/xaibo"


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (None, "config.url must be"),
        ({}, "config.url must be"),
        ({"url": 1}, "config.url must be"),
        ({"url": "tools.example/xaibo"}, "config.url must be"),
        ({"url": "ftp://tools.example"}, "config.url must be"),
        ({"url": "https://"}, "config.url must be"),
        ({"url": "https://[a"}, "config.url must be"),
        ({"url": f"{URL}?a=1"}, "config.url must be"),
        ({"url": URL, "uri": 1}, "config has no 'uri'; it has url, headers, timeout, context, raise_errors, base_url, api_key"),
        ({"base_url": "tools.example"}, "config.base_url must be the server's address"),
        ({"base_url": "http://127.0.0.1:9", "url": URL}, "config.base_url must be absent"),
        ({"url": URL, "api_key": ""}, "config.api_key must be"),
        ({"url": URL, "api_key": "a\n"}, "config.api_key must be"),
        ({"url": URL, "api_key": "k", "headers": {"authorization": "Bearer x"}}, "config.api_key must be absent"),
        ({"url": URL, "raise_errors": 1}, "config.raise_errors must be"),
        ({"url": URL, "headers": ["a"]}, "config.headers must be"),
        ({"url": URL, "headers": {"X-Key": 7}}, "config.headers must be"),
        ({"url": URL, "timeout": 0}, "config.timeout must be"),
        ({"url": URL, "timeout": "1"}, "config.timeout must be"),
        ({"url": URL, "timeout": True}, "config.timeout must be"),
        ({"url": URL, "timeout": float("nan")}, "config.timeout must be"),
        ({"url": URL, "timeout": float("inf")}, "config.timeout must be"),
        ({"url": URL, "context": []}, "config.context must be"),
        ({"url": URL, "context": {"user_id": object()}}, "config.context must be"),
    ],
)
def test_xb14_an_invalid_configuration_is_reported_when_the_agent_is_built(config, message):
    with pytest.raises(ValueError, match="config") as raised:
        ToolboothProvider(config)
    assert str(raised.value).startswith(message)
