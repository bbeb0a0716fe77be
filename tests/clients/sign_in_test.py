"""The official MCP client for Python signs in to the Worker, from a bare 401 to a call."""

from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from mcp.client.auth import OAuthClientProvider
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata

pytestmark = pytest.mark.anyio

REDIRECT = "http://localhost:3118/callback"


class Storage:
    """Keeps tokens and the client in memory."""

    def __init__(self):
        self.tokens = None
        self.client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client_info):
        self.client = client_info


def provider(server, storage, **metadata):
    """What signs in at a server, and the addresses that the person was sent to."""
    visited = []

    async def redirect(url):
        visited.append(url)

    async def callback():
        query = parse_qs(urlsplit(server.agree(visited[-1])).query)
        [code], [state], [iss] = query["code"], query["state"], query["iss"]
        return AuthorizationCodeResult(code=code, state=state, iss=iss)

    auth = OAuthClientProvider(
        server_url=f"{server.address}/mcp",
        client_metadata=OAuthClientMetadata(
            client_name="Test",
            redirect_uris=[REDIRECT],
            grant_types=["authorization_code", "refresh_token"],
            response_types=["code"],
            **metadata,
        ),
        storage=storage,
        redirect_handler=redirect,
        callback_handler=callback,
    )
    return auth, visited


async def call(signing_in, storage, **metadata):
    """Signs in from a bare 401, and calls a tool; gives how often the person was asked."""
    auth, visited = provider(signing_in, storage, **metadata)
    async with httpx2.AsyncClient(auth=auth, timeout=120) as http:
        transport = streamable_http_client(f"{signing_in.address}/mcp", http_client=http)
        async with Client(transport) as client:
            called = await client.call_tool("Calculator_Add", {"a": 2, "b": 40})
            assert called.structured_content == {"result": 42}
    assert storage.tokens.refresh_token
    assert storage.tokens.scope == "github:read github:write offline_access"
    return len(visited)


@pytest.mark.parametrize("method", ["none", "client_secret_post", "client_secret_basic", None])
async def test_a_client_registers_itself_and_signs_in(signing_in, method):
    storage = Storage()
    assert await call(signing_in, storage, **({"token_endpoint_auth_method": method} if method else {})) == 1


@pytest.mark.parametrize("kind", ["document", "operator"])
async def test_a_client_that_is_known(signing_in, kind):
    """With a metadata document (the client accepts `https` URLs only, so its id is given), or registered by the operator."""
    id, secret, method = {
        "document": (signing_in.document(), None, "none"),
        "operator": ("connector", signing_in.SECRET, "client_secret_basic"),
    }[kind]
    storage = Storage()
    storage.client = OAuthClientInformationFull(
        client_id=id,
        client_secret=secret,
        token_endpoint_auth_method=method,
        redirect_uris=[REDIRECT],
    )
    assert await call(signing_in, storage) == 1
