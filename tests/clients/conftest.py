"""Fixtures: Workers, started once per session, and Xaibo agents."""

import contextlib
import json
import os
import subprocess
import time
import uuid
from pathlib import Path

import jwt
import pytest
from xaibo import AgentConfig, ConfigOverrides, ExchangeConfig, Xaibo
from xaibo.primitives.modules.conversation import SimpleConversation
from xaibo.primitives.modules.llm import MockLLM

# Without it, litellm asks GitHub for prices when it is imported.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

# An agent configuration like a user's.
AGENT = """
id: booth
modules:
  - {module: xaibo.primitives.modules.llm.MockLLM, id: llm, config: {responses: %s}}
  - {id: tools, %s}
  - {module: xaibo.primitives.modules.orchestrator.SimpleToolOrchestrator, id: orchestrator, config: {max_thoughts: 4}}
"""

ROOT = Path(__file__).parent.parent.parent


@contextlib.contextmanager
def started(script, *arguments):
    """Starts a Worker on the real runtime and yields its URL and process."""
    node = os.environ.get("NODE", "node_modules/.bin/node")
    server = subprocess.Popen(
        [node, f"tests/support/{script}", *arguments],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        url = server.stdout.readline().strip()
        assert url.startswith("http://127.0.0.1:"), "the Worker did not start"
        yield url, server
    finally:
        server.stdin.close()
        assert server.wait(timeout=120) == 0


@pytest.fixture(scope="session")
def address():
    """The URL of the deployed Worker."""
    with started("serve.mjs") as (url, _):
        yield url


@pytest.fixture(scope="session")
def fixtures_address():
    """The URL of the Worker with misbehaving tools."""
    with started("serve.mjs", "target/fixtures") as (url, _):
        yield url


@pytest.fixture(scope="session")
def toolkits_address():
    """The URL of the Worker with all shipped toolkits."""
    with started("serve-toolkits.mjs") as (url, _):
        yield url


@pytest.fixture(scope="session")
def tasks_address():
    """The URL of the Worker with long calls."""
    variables = {"AUTH": "none", "STATE_KEY": "canary of at least thirty-two bytes"}
    with started("serve.mjs", "target/mcp", json.dumps(variables)) as (url, _):
        yield url


class Authorizing:
    """A Worker whose users authorize tools."""

    SECRET = "canary of at least thirty-two bytes"

    def __init__(self, address, server):
        self.address = address
        self._server = server

    def new_user(self):
        """The headers of a user without grants."""
        claims = {"iss": "https://issuer.example", "sub": f"canary-{uuid.uuid4()}", "scope": "github:write", "exp": time.time() + 600}
        return {"Authorization": f"Bearer {jwt.encode(claims, self.SECRET, 'HS256')}"}

    def grant(self, url):
        """Opens the link as the user and gives consent."""
        self._server.stdin.write(f"{url}\n")
        self._server.stdin.flush()
        assert self._server.stdout.readline() == "200\n"


@pytest.fixture(scope="session")
def authorizing():
    """A Worker whose users authorize tools."""
    with started("serve-authorizing.mjs", Authorizing.SECRET) as served:
        yield Authorizing(*served)


@pytest.fixture(scope="session")
def closed():
    """A Worker that requires credentials, without `PUBLIC_URL`."""
    variables = {"AUTH": "jwt", "JWT_ISSUER": "https://issuer.example", "JWT_SECRET": Authorizing.SECRET}
    with started("serve.mjs", "target/samples", json.dumps(variables)) as served:
        yield Authorizing(*served)


class SigningIn:
    """A Worker to which people sign in."""

    SECRET = "canary-secret-of-the-connector"

    def __init__(self, address, server):
        self.address = address
        self._server = server

    def agree(self, url):
        """Opens the consent page as a person who agrees, and returns the URL of the callback."""
        return self._ask(url)

    def document(self):
        """The URL of a client's metadata document."""
        return self._ask("document")

    def _ask(self, line):
        self._server.stdin.write(f"{line}\n")
        self._server.stdin.flush()
        return self._server.stdout.readline().strip()


@pytest.fixture(scope="session")
def signing_in():
    """A Worker to which people sign in."""
    with started("serve-sign-in.mjs", SigningIn.SECRET) as served:
        yield SigningIn(*served)


@pytest.fixture(scope="session")
def per_tool():
    """A Worker with tools for everyone, and tools that ask for a sign-in."""
    with started("serve-sign-in.mjs", SigningIn.SECRET, "per-tool") as served:
        yield SigningIn(*served)


class Gateway:
    """The chat gateway, with stand-ins of model providers behind it."""

    KEY = "canary-of-a-gateway-key"
    MODELS = {
        "openai": "openai/gpt-4.1",
        "anthropic": "anthropic/claude-sonnet-4-5",
        "gemini": "google/gemini-3-pro-preview",
    }

    def __init__(self, address, server):
        self.base_url = f"{address}/v1"
        self._server = server

    def script(self, provider, *turns):
        """Sets what the provider's model says, turn by turn."""
        self._ask(provider=provider, script=turns)

    def rejections(self, provider):
        """The messages with which the provider rejected requests since the script was set."""
        return self._ask(provider=provider)["rejections"]

    def _ask(self, **command):
        self._server.stdin.write(json.dumps(command) + "\n")
        self._server.stdin.flush()
        return json.loads(self._server.stdout.readline())


@pytest.fixture(scope="session")
def gateway():
    """The chat gateway."""
    with started("serve-gateway.mjs") as served:
        yield Gateway(*served)


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture
def ask_agent(monkeypatch):
    """Runs an agent with a tool module and a mock model that returns these responses in order.

    Returns the agent's answer, and the tool results and functions that the model received.
    """
    shown = []
    generate = MockLLM.generate

    async def recording(self, messages, options=None):
        shown.append((list(messages), options))
        return await generate(self, messages, options)

    monkeypatch.setattr(MockLLM, "generate", recording)

    async def ask(tools, *responses):
        shown.clear()
        xaibo = Xaibo()
        members = json.dumps(tools)[1:-1]
        xaibo.register_agent(AgentConfig.from_yaml(AGENT % (json.dumps(responses), members)))
        history = ExchangeConfig(module="orchestrator", protocol="ConversationHistoryProtocol", provider="history")
        overrides = ConfigOverrides(instances={"history": SimpleConversation()}, exchange=[history])
        agent = xaibo.get_agent_with("booth", overrides)
        answer = await agent.handle_text("Go on")
        results = [
            result.content
            for message in shown[-1][0]
            for result in message.tool_results or []
        ]
        return answer.text, results, shown[0][1].functions

    return ask


def uses(*calls):
    """A model response that calls tools."""
    named = [{"id": f"c{at}", "name": name, "arguments": arguments} for at, (name, arguments) in enumerate(calls)]
    return {"content": "", "tool_calls": named}
