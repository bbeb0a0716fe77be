"""The chat gateway with Python's clients: openai, langchain-openai, openai-agents and litellm."""

import json

import agents
import httpx
import litellm
import openai
import pytest
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from toolbooth_client import Client

PROVIDERS = ["openai", "anthropic", "gemini"]
ROME = {"name": "weather", "input": {"city": "Rome"}}
OSLO = {"name": "weather", "input": {"city": "Oslo"}}
ANSWER = "Größe: 22 °C, at noon."
# Two parallel calls, then one without arguments, then the answer.
LOOP = [{"text": "Let me see.", "calls": [ROME, OSLO]}, {"calls": [{"name": "clock"}]}, {"text": ANSWER}]
QUESTION = [{"role": "user", "content": "What is the weather in canary-town?"}]
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS = [
    {"type": "function", "function": {"name": "weather", "description": "The weather.", "parameters": CITY}},
    {"type": "function", "function": {"name": "clock", "description": "The time.", "parameters": {"type": "object", "properties": {}}}},
]
CALLS = [("weather", {"city": "Rome"}), ("weather", {"city": "Oslo"}), ("clock", {})]

pytestmark = pytest.mark.parametrize("provider", PROVIDERS)


@pytest.fixture
def client(gateway):
    return openai.OpenAI(base_url=gateway.base_url, api_key=gateway.KEY, max_retries=0)


def answers(message):
    """A tool message for each call of a message."""
    return [{"role": "tool", "tool_call_id": call.id, "content": "22"} for call in message.tool_calls or []]


def echoed(message):
    """A message as it goes back, without what the package adds when it parses."""
    sent = message.to_dict()
    sent.pop("parsed", None)
    for call in sent.get("tool_calls", []):
        call["function"].pop("parsed_arguments", None)
    return sent


def test_openai_chat(gateway, client, provider):
    gateway.script(provider, {"text": "Sunny"})
    completion = client.chat.completions.create(model=gateway.MODELS[provider], messages=QUESTION)
    assert completion.choices[0].message.content == "Sunny"
    assert completion.choices[0].finish_reason == "stop"
    assert completion.usage.total_tokens > 0


def test_client_of_the_page(gateway, provider):
    """The loop of 2api.ai's page, 4.2, and its contract tests (9)."""
    gateway.script(provider, *LOOP)
    client = Client(base_url=gateway.base_url, api_key=gateway.KEY, model=gateway.MODELS[provider], max_retries=0)
    called = []
    response = client.chat(messages=QUESTION, tools=TOOLS)
    while response.tool_calls:
        assert response.finish_reason == "tool_calls"
        tool_results = []
        for tool_call in response.tool_calls:
            assert tool_call.id and tool_call.type == "function" and isinstance(tool_call.function.arguments, str)
            called.append((tool_call.function.name, json.loads(tool_call.function.arguments)))
            tool_results.append({"role": "tool", "tool_call_id": tool_call.id, "content": json.dumps({"degrees": 22})})
        messages = [*QUESTION, {"role": "assistant", "tool_calls": response.tool_calls}, *tool_results]
        response = client.chat(messages=messages, tools=TOOLS)
    assert response.content == ANSWER
    assert called == CALLS


def test_openai_stream(gateway, client, provider):
    gateway.script(provider, {"text": ["Sun", "ny"]})
    options = {"include_usage": True}
    stream = client.chat.completions.create(model=gateway.MODELS[provider], messages=QUESTION, stream=True, stream_options=options)
    chunks = list(stream)
    assert [c.choices[0].delta.content for c in chunks if c.choices and c.choices[0].delta.content] == ["Sun", "ny"]
    assert chunks[-1].usage.total_tokens > 0


@pytest.mark.parametrize("streamed", [False, True])
def test_openai_loop(gateway, client, provider, streamed):
    gateway.script(provider, *LOOP)
    messages, called = list(QUESTION), []
    for _ in range(4):
        if streamed:
            with client.chat.completions.stream(model=gateway.MODELS[provider], messages=messages, tools=TOOLS) as stream:
                message = stream.get_final_completion().choices[0].message
        else:
            message = client.chat.completions.create(model=gateway.MODELS[provider], messages=messages, tools=TOOLS).choices[0].message
        if not message.tool_calls:
            break
        called += [(call.function.name, json.loads(call.function.arguments)) for call in message.tool_calls]
        messages += [echoed(message), *answers(message)]
    assert message.content == ANSWER
    assert called == CALLS
    assert gateway.rejections(provider) == []


@pytest.mark.parametrize(
    ("turn", "error", "code"),
    [
        ({"status": 429, "headers": {"retry-after": "7"}}, openai.RateLimitError, "rate_limited"),
        ({"status": 401}, openai.InternalServerError, "provider_auth_error"),
        ({"status": 500}, openai.InternalServerError, "provider_error"),
        ({"status": 529}, openai.InternalServerError, "provider_overloaded"),
        ({"raw": "<html>"}, openai.InternalServerError, "provider_bad_response"),
    ],
)
def test_openai_errors(gateway, client, provider, turn, error, code):
    gateway.script(provider, turn)
    with pytest.raises(error) as raised:
        client.chat.completions.create(model=gateway.MODELS[provider], messages=QUESTION)
    assert raised.value.code == code
    if code == "rate_limited":
        assert raised.value.response.headers["retry-after"] == "7"


@pytest.mark.parametrize("turn", [{"fail": [2, "Overloaded"]}, {"cut": 2}, {"end": 2}])
def test_openai_broken_stream(gateway, client, provider, turn):
    gateway.script(provider, {"text": "Sunny and warm", **turn})
    with pytest.raises((openai.APIError, httpx.HTTPError)):
        list(client.chat.completions.create(model=gateway.MODELS[provider], messages=QUESTION, stream=True))


@tool
def weather(city: str) -> str:
    """The weather."""
    return "22"


@tool
def clock() -> str:
    """The time."""
    return "12:00"


@pytest.mark.parametrize("streamed", [False, True])
def test_langchain_loop(gateway, provider, streamed):
    gateway.script(provider, *LOOP)
    model = ChatOpenAI(model=gateway.MODELS[provider], base_url=gateway.base_url, api_key=gateway.KEY, max_retries=0, stream_usage=True)
    bound = model.bind_tools([weather, clock])
    messages, called = [HumanMessage("What is the weather?")], []
    for _ in range(4):
        if streamed:
            message = None
            for chunk in bound.stream(messages):
                message = chunk if message is None else message + chunk
        else:
            message = bound.invoke(messages)
        messages.append(message)
        if not message.tool_calls:
            break
        for call in message.tool_calls:
            called.append((call["name"], call["args"]))
            messages.append(ToolMessage("22", tool_call_id=call["id"]))
    assert message.text == ANSWER
    assert called == CALLS
    assert message.usage_metadata["total_tokens"] > 0
    assert gateway.rejections(provider) == []


@pytest.mark.anyio
@pytest.mark.parametrize("streamed", [False, True])
async def test_agents_loop(gateway, provider, streamed):
    gateway.script(provider, *LOOP)
    called = []

    @agents.function_tool(name_override="weather")
    def agents_weather(city: str) -> str:
        """The weather."""
        called.append(("weather", {"city": city}))
        return "22"

    @agents.function_tool(name_override="clock")
    def agents_clock() -> str:
        """The time."""
        called.append(("clock", {}))
        return "12:00"

    agents.set_tracing_disabled(True)
    client = openai.AsyncOpenAI(base_url=gateway.base_url, api_key=gateway.KEY, max_retries=0)
    model = agents.OpenAIChatCompletionsModel(model=gateway.MODELS[provider], openai_client=client)
    agent = agents.Agent(name="booth", instructions="Be brief.", model=model, tools=[agents_weather, agents_clock])
    if streamed:
        result = agents.Runner.run_streamed(agent, "What is the weather?")
        async for _ in result.stream_events():
            pass
    else:
        result = await agents.Runner.run(agent, "What is the weather?")
    assert result.final_output == ANSWER
    assert sorted(called, key=str) == sorted(CALLS, key=str)
    assert gateway.rejections(provider) == []
    await client.close()


@pytest.mark.parametrize("streamed", [False, True])
def test_litellm_loop(gateway, provider, streamed):
    gateway.script(provider, *LOOP)
    litellm.telemetry = False
    messages, called = list(QUESTION), []
    for _ in range(4):
        options = {"model": f"openai/{gateway.MODELS[provider]}", "api_base": gateway.base_url, "api_key": gateway.KEY, "num_retries": 0}
        reply = litellm.completion(**options, messages=messages, tools=TOOLS, stream=streamed)
        if streamed:
            reply = litellm.stream_chunk_builder(list(reply), messages=messages)
        message = reply.choices[0].message
        if not message.tool_calls:
            break
        called += [(call.function.name, json.loads(call.function.arguments)) for call in message.tool_calls]
        messages += [message.model_dump(exclude_none=True), *answers(message)]
    assert message.content == ANSWER
    assert called == CALLS
    assert gateway.rejections(provider) == []


def test_litellm_errors(gateway, provider):
    gateway.script(provider, {"status": 429, "headers": {"retry-after": "7"}})
    options = {"model": f"openai/{gateway.MODELS[provider]}", "api_base": gateway.base_url, "api_key": gateway.KEY, "num_retries": 0, "max_retries": 0}
    with pytest.raises(litellm.RateLimitError):
        litellm.completion(**options, messages=QUESTION)
