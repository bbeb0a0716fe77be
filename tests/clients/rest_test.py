"""Clients in Python that read the OpenAPI document or the UTCP manual, with the Worker."""

import importlib
import json
import subprocess
import sys
from pathlib import Path

import httpx
import httpx2
import pytest
from contracts_test import problems
from fastmcp import Client, FastMCP
from fastmcp.exceptions import ToolError
from openapi_spec_validator import validate
from utcp.utcp_client import UtcpClient
from utcp_http.http_call_template import HttpCallTemplate


@pytest.fixture(scope="session")
def document(address):
    return httpx.get(f"{address}/openapi.json").raise_for_status().json()


def names(document):
    return [item["post"]["operationId"] for item in document["paths"].values()]


# The document leaves GET out, so that each tool is one operation.
LEFT_OUT = ["Undocumented methods advertised: GET", "Unsupported method GET", "Unsupported method HEAD"]


def findings(document, headers={}):
    """What schemathesis reports about the Worker that the document names.

    Services of tools cannot be reached here, and tools that use them are tested with stand-ins.
    """
    offline = {path: item for path, item in document["paths"].items() if not path.startswith(("/rest/GitHub", "/rest/Weather"))}
    found = problems({**document, "paths": offline}, "", headers)
    return [one for one in found if not any(text in one for text in LEFT_OUT)]


def test_the_document_is_valid(document, fixtures_address):
    validate(document)
    validate(httpx.get(f"{fixtures_address}/openapi.json").json())


def test_schemathesis_finds_nothing(document):
    assert findings(document) == []


def test_schemathesis_finds_nothing_with_credentials(closed):
    user = closed.new_user()
    document = httpx.get(f"{closed.address}/openapi.json", headers=user).raise_for_status().json()
    assert findings(document, user) == []


def test_schemathesis_finds_nothing_in_a_catalogue_of_definitions(toolkits_address):
    document = httpx.get(f"{toolkits_address}/openapi.json").raise_for_status().json()
    validate(document)
    # REST cannot carry the tokens of users.
    without_users = {path: item for path, item in document["paths"].items() if path.startswith(("/rest/Fetch", "/rest/Stripe", "/rest/Weather"))}
    assert len(without_users) == 13
    found = problems({**document, "paths": without_users}, "")
    assert [one for one in found if not any(text in one for text in LEFT_OUT)] == []


def test_openapi_python_client_generates_a_client_that_calls(address, document, tmp_path, monkeypatch):
    file = tmp_path / "openapi.json"
    file.write_text(json.dumps(document))
    config = tmp_path / "config.yml"
    config.write_text("post_hooks: []")  # It would format the code.
    command = Path(sys.executable).parent / "openapi-python-client"
    options = ["--config", config, "--meta", "none", "--output-path", tmp_path / "generated", "--fail-on-warning"]
    generate = [command, "generate", "--path", file, *options]
    generated = subprocess.run(generate, capture_output=True, text=True, cwd=tmp_path)
    assert generated.returncode == 0, generated.stdout + generated.stderr
    monkeypatch.syspath_prepend(tmp_path)
    client = importlib.import_module("generated").Client(base_url=address)
    add = importlib.import_module("generated.api.calculator.calculator_add")
    models = importlib.import_module("generated.models")
    assert add.sync(client=client, body=models.CalculatorAddBody(a=2, b=40)) == 42
    slugify = importlib.import_module("generated.api.text.text_slugify")
    slug = slugify.sync(client=client, body=models.TextSlugifyBody(text="Crème brûlée"))
    assert slug.to_dict() == {"slug": "crème-brûlée", "truncated": False}
    ring = importlib.import_module("generated.api.doorbell.doorbell_ring")
    problem = ring.sync(client=client, body=models.DoorbellRingBody(doorbell_id="doorbell1"))
    assert problem.detail == "Doorbell ID not found"


@pytest.mark.anyio
async def test_fastmcp_has_the_same_tools_with_the_same_answers(address, document):
    calls = [
        ("Calculator_Add", {"a": 2, "b": 40}),
        ("Text_Slugify", {"text": "Crème brûlée", "separator": "_"}),
        ("Doorbell_Ring", {"doorbell_id": "doorbell42"}),
    ]
    server = FastMCP.from_openapi(document, client=httpx2.AsyncClient(base_url=address), name="rest")
    async with Client(server) as converted, Client(f"{address}/mcp") as own:
        listed, expected = await converted.list_tools(), await own.list_tools()
        assert sorted(tool.name for tool in listed) == sorted(tool.name for tool in expected)
        properties = lambda tools: {tool.name: sorted(tool.input_schema["properties"]) for tool in tools}
        assert properties(listed) == properties(expected)
        for name, arguments in calls:
            got, mcp = await converted.call_tool(name, arguments), await own.call_tool(name, arguments)
            assert got.structured_content == mcp.structured_content, name
        with pytest.raises(ToolError, match="Doorbell ID not found"):
            await converted.call_tool("Doorbell_Ring", {"doorbell_id": "doorbell1"})


@pytest.mark.anyio
@pytest.mark.parametrize("path", ["/utcp", "/openapi.json"])
async def test_utcp_registers_and_calls(address, document, path):
    template = HttpCallTemplate(name="tools", call_template_type="http", http_method="GET", url=f"{address}{path}")
    client = await UtcpClient.create()
    registered = await client.register_manual(template)
    assert registered.success, registered.errors
    assert [tool.name for tool in registered.manual.tools] == [f"tools.{name}" for name in names(document)]
    assert await client.call_tool("tools.Calculator_Add", {"body": {"a": 2, "b": 40}}) == 42


@pytest.mark.anyio
@pytest.mark.parametrize("path", ["/utcp", "/openapi.json"])
async def test_utcp_sends_credentials(closed, path):
    key = closed.new_user()["Authorization"]
    auth = {"auth_type": "api_key", "api_key": key, "var_name": "Authorization", "location": "header"}
    url = f"{closed.address}{path}"
    template = HttpCallTemplate(name="tools", call_template_type="http", http_method="GET", url=url, auth=auth, auth_tools=auth)
    client = await UtcpClient.create(config={"variables": {"tools_TOOLBOOTH_KEY": key.removeprefix("Bearer ")}})
    registered = await client.register_manual(template)
    assert registered.success, registered.errors
    assert await client.call_tool("tools.Calculator_Add", {"body": {"a": 2, "b": 40}}) == 42
