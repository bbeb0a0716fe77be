"""The official OXP SDK for Python with the Worker.

Its call() wraps the body in an envelope, as in OXP as published; the flat form uses its generic
post().
"""

import httpx
import oxp
import pytest

MOUNTS = ["", "/oxp"]
# The mounts that accept its call().
ENVELOPES = ["/oxp/1.0", ""]
ADD = {"call_id": "1", "tool_id": "Calculator.Add", "input": {"a": 10, "b": 5}}


@pytest.fixture
def client(address, request):
    """A client for the mount in the test's parameters, by default the root."""
    with oxp.Oxp(
        base_url=address + getattr(request, "param", ""),
        # Required by the constructor; the server needs no token and ignores it.
        bearer_token="x",
        default_headers={"OXP-Version": "1.0"},
        max_retries=0,
        _strict_response_validation=True,
    ) as client:
        yield client


def call(client, path="/tools/call", **body):
    """Calls a tool in the flat form."""
    return client.post(path, body=body, cast_to=httpx.Response)


@pytest.mark.parametrize("client", MOUNTS, indirect=True)
def test_health(client):
    assert client.health.check() is None
    reply = client.health.with_raw_response.check()
    assert reply.status_code == 200
    assert reply.headers["OXP-Version"] == "1.0"


@pytest.mark.parametrize("client", MOUNTS, indirect=True)
def test_list(client):
    tools = client.tools.list()
    ids = [tool.id for tool in tools.items]
    assert "Calculator.Add@1.0.0" in ids
    assert len(ids) == len(set(ids))
    add = tools.items[ids.index("Calculator.Add@1.0.0")]
    assert (add.name, add.version) == ("Calculator_Add", "1.0.0")
    assert add.input_schema["required"] == ["a", "b"]
    assert add.output_schema["type"] == "number"
    assert add.requirements is None


@pytest.mark.parametrize("client", MOUNTS, indirect=True)
@pytest.mark.parametrize("path", ["/tools/call", "/call"])
def test_call(client, path):
    reply = call(client, path, call_id="1", tool_id="Calculator.Add", input={"a": 10, "b": 5})
    assert reply.status_code == 200
    assert reply.headers["OXP-Version"] == "1.0"
    body = reply.json()
    assert isinstance(body.pop("duration"), int)
    assert body == {"call_id": "1", "success": True, "value": 15}


def test_integers_stay_exact(client):
    reply = call(client, tool_id="Calculator.Add", input={"a": 2**63, "b": 2**62})
    assert reply.json()["value"] == 2**63 + 2**62


def test_tool_error(client):
    reply = call(client, tool_id="Doorbell.Ring", input={"doorbell_id": "doorbell1"})
    assert reply.status_code == 200
    body = reply.json()
    assert body["success"] is False
    assert body["error"]["can_retry"] is True
    assert body["error"]["retry_after_ms"] == 500


@pytest.mark.parametrize(
    ("body", "error", "message"),
    [
        ({"tool_id": "Calculator.Add@2.0.0"}, oxp.BadRequestError, "Tool 'Calculator_Add' was not found"),
        ({"tool_id": "add"}, oxp.BadRequestError, "The tool id is invalid"),
        ({"tool_id": "A.B", "inputs": {}}, oxp.BadRequestError, "The request is malformed"),
        ({"tool_id": "Calculator.Add"}, oxp.UnprocessableEntityError, "Some input parameters are invalid"),
    ],
)
def test_rejections(client, body, error, message):
    with pytest.raises(error) as raised:
        call(client, **body)
    assert raised.value.body["message"] == message
    assert raised.value.response.headers["OXP-Version"] == "1.0"


def test_other_version(client):
    with pytest.raises(oxp.BadRequestError):
        client.tools.list(extra_headers={"OXP-Version": "2.0"})
    with pytest.raises(oxp.BadRequestError):
        client.health.check(extra_headers={"OXP-Version": "2.0"})


def test_not_found(client):
    with pytest.raises(oxp.NotFoundError):
        client.get("/nothing", cast_to=httpx.Response)


@pytest.mark.parametrize("client", ENVELOPES, indirect=True)
@pytest.mark.parametrize("schema", [None, "urn:oxp:1.0", "otc://1.0"])
def test_envelope(client, schema):
    client.health.check()
    assert "Calculator.Add@1.0.0" in [tool.id for tool in client.tools.list().items]
    reply = client.tools.call(request=ADD, **({"schema": schema} if schema else {}))
    assert reply.schema_ == (schema or "urn:oxp:1.0")
    assert (reply.result.call_id, reply.result.success, reply.result.value) == ("1", True, 15)


@pytest.mark.parametrize("client", ["/oxp/1.0"], indirect=True)
def test_envelope_list(client):
    tools = client.tools.list()
    assert tools.schema_ == "urn:oxp:1.0"
    add = next(tool for tool in tools.items if tool.id == "Calculator.Add@1.0.0")
    assert add.input_schema["required"] == ["a", "b"]


@pytest.mark.parametrize("client", ENVELOPES, indirect=True)
def test_envelope_tool_error(client):
    request = {"tool_id": "Doorbell.Ring", "input": {"doorbell_id": "doorbell1"}}
    error = client.tools.call(request=request).result.error
    assert error.message == "Doorbell ID not found"
    assert (error.can_retry, error.retry_after_ms) == (True, 500)


@pytest.mark.parametrize("client", ENVELOPES, indirect=True)
@pytest.mark.parametrize(
    ("request_", "schema", "error", "message"),
    [
        ({"tool_id": "Calculator.Add@2.0.0"}, "urn:oxp:1.0", oxp.BadRequestError, "Tool 'Calculator_Add' was not found"),
        ({"tool_id": "Calculator_Add"}, "urn:oxp:1.0", oxp.BadRequestError, "The tool id is invalid"),
        (ADD, "urn:oxp:2.0", oxp.BadRequestError, "This protocol version is not supported"),
        # The request of the SDK's own tests.
        ({"tool_id": "sqFnKL1N_jr_.U0_2_jv__a"}, "https://example.com", oxp.BadRequestError,
         "This protocol version is not supported"),
        ({"tool_id": "Calculator.Add"}, "urn:oxp:1.0", oxp.UnprocessableEntityError, "Some input parameters are invalid"),
    ],
)
def test_envelope_rejections(client, request_, schema, error, message):
    with pytest.raises(error) as raised:
        client.tools.call(request=request_, schema=schema)
    assert raised.value.body["$schema"] == "urn:oxp:1.0"
    assert raised.value.body["message"] == message


@pytest.mark.anyio
async def test_async_envelope(address):
    async with oxp.AsyncOxp(base_url=address + "/oxp/1.0", bearer_token="x") as client:
        reply = await client.tools.call(request=ADD)
        assert reply.result.value == 15


@pytest.mark.anyio
async def test_async_client(address):
    async with oxp.AsyncOxp(base_url=address, bearer_token="x") as client:
        await client.health.check()
        reply = await client.post(
            "/tools/call",
            body={"tool_id": "Calculator.Add", "input": {"a": 1, "b": 2}},
            cast_to=httpx.Response,
        )
        assert reply.json()["value"] == 3


@pytest.fixture
def anyio_backend():
    return "asyncio"
