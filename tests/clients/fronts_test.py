"""The gateway's formats for agents with Python's clients: Anthropic's Messages and OpenAI's Responses.

Each client does the same with models of every format: two parallel calls, one without arguments, and the answer.
"""

import json

import agents
import anthropic
import openai
import pydantic_ai
import pytest
from gateway_test import ANSWER, CALLS, CITY, LOOP, PROVIDERS, clock, weather
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

QUESTION = "What is the weather in canary-town?"
NOTHING = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
TOOLS = {"weather": {**CITY, "additionalProperties": False}, "clock": NOTHING}

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("provider", PROVIDERS)]


async def anthropic_sdk(client, model, streamed):
    tools = [{"name": name, "description": f"The {name}.", "input_schema": schema} for name, schema in TOOLS.items()]
    messages, called = [{"role": "user", "content": QUESTION}], []
    while True:
        body = {"model": model, "max_tokens": 2000, "messages": messages, "tools": tools}
        if streamed:
            async with client.messages.stream(**body) as stream:
                message = await stream.get_final_message()
        else:
            message = await client.messages.create(**body)
        calls = [block for block in message.content if block.type == "tool_use"]
        assert (message.stop_reason == "tool_use") == bool(calls)
        assert message.usage.input_tokens > 0 and message.usage.output_tokens > 0
        if not calls:
            return "".join(block.text for block in message.content), called
        called += [(call.name, call.input) for call in calls]
        results = [{"type": "tool_result", "tool_use_id": call.id, "content": "22"} for call in calls]
        messages += [{"role": "assistant", "content": message.to_dict()["content"]}, {"role": "user", "content": results}]


async def openai_sdk(client, model, streamed):
    tools = [{"type": "function", "name": name, "description": f"The {name}.", "parameters": schema, "strict": True} for name, schema in TOOLS.items()]
    items, called = [{"role": "user", "content": QUESTION}], []
    while True:
        body = {"model": model, "store": False, "input": items, "tools": tools, "include": ["reasoning.encrypted_content"]}
        if streamed:
            async with client.responses.stream(**body) as stream:
                response = await stream.get_final_response()
        else:
            response = await client.responses.create(**body)
        # The package does not check what it reads: this does.
        openai.types.responses.Response.model_validate(response.to_dict())
        assert response.status == "completed" and response.usage.total_tokens > 0
        calls = [item for item in response.output if item.type == "function_call"]
        if not calls:
            return response.output_text, called
        called += [(call.name, json.loads(call.arguments)) for call in calls]
        items += [{key: value for key, value in item.to_dict().items() if key not in ("parsed_arguments", "parsed")} for item in response.output]
        for item in items:
            for part in item["content"] if item.get("type") == "message" else []:
                part.pop("parsed", None)
        items += [{"type": "function_call_output", "call_id": call.call_id, "output": "22"} for call in calls]


def langchain(model, streamed):
    bound = model.bind_tools([weather, clock])
    messages, called = [HumanMessage(QUESTION)], []
    while True:
        if streamed:
            message = None
            for chunk in bound.stream(messages):
                message = chunk if message is None else message + chunk
        else:
            message = bound.invoke(messages)
        messages.append(message)
        assert message.usage_metadata["total_tokens"] > 0
        if not message.tool_calls:
            return message.text, called
        for call in message.tool_calls:
            called.append((call["name"], call["args"]))
            messages.append(ToolMessage("22", tool_call_id=call["id"]))


async def langchain_anthropic(client, model, streamed):
    options = {"base_url": str(client.base_url), "api_key": client.api_key, "max_retries": 0, "max_tokens": 2000, "stream_usage": True}
    return langchain(ChatAnthropic(model=model, **options), streamed)


async def langchain_openai(client, model, streamed):
    options = {"base_url": str(client.base_url), "api_key": client.api_key, "max_retries": 0, "use_responses_api": True, "store": False}
    return langchain(ChatOpenAI(model=model, include=["reasoning.encrypted_content"], **options), streamed)


async def pydantic(model, streamed):
    called = []
    agent = pydantic_ai.Agent(model)

    @agent.tool_plain(name="weather")
    def pydantic_weather(city: str) -> str:
        """The weather."""
        called.append(("weather", {"city": city}))
        return "22"

    @agent.tool_plain(name="clock")
    def pydantic_clock() -> str:
        """The time."""
        called.append(("clock", {}))
        return "12:00"

    async def read(_, events):
        async for _ in events:
            pass

    # With a handler of events, each answer is streamed.
    return (await agent.run(QUESTION, event_stream_handler=read if streamed else None)).output, called


async def pydantic_anthropic(client, model, streamed):
    return await pydantic(AnthropicModel(model, provider=AnthropicProvider(anthropic_client=client)), streamed)


async def pydantic_openai(client, model, streamed):
    return await pydantic(OpenAIResponsesModel(model, provider=OpenAIProvider(openai_client=client)), streamed)


async def agents_sdk(client, model, streamed):
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
    model = agents.OpenAIResponsesModel(model=model, openai_client=client)
    agent = agents.Agent(name="booth", instructions="Be brief.", model=model, model_settings=agents.ModelSettings(store=False), tools=[agents_weather, agents_clock])
    if not streamed:
        return (await agents.Runner.run(agent, QUESTION)).final_output, called
    result = agents.Runner.run_streamed(agent, QUESTION)
    async for _ in result.stream_events():
        pass
    return result.final_output, called


OF_ANTHROPIC = [anthropic_sdk, langchain_anthropic, pydantic_anthropic]
OF_OPENAI = [openai_sdk, langchain_openai, pydantic_openai, agents_sdk]


def connected(gateway, run):
    """The package of the provider whose format a client speaks, connected to the gateway."""
    if run in OF_ANTHROPIC:
        return anthropic.AsyncAnthropic(base_url=gateway.base_url.removesuffix("/v1"), api_key=gateway.KEY, max_retries=0)
    return openai.AsyncOpenAI(base_url=gateway.base_url, api_key=gateway.KEY, max_retries=0)


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("run", OF_ANTHROPIC + OF_OPENAI, ids=lambda run: run.__name__)
async def test_calls_with_tools(gateway, provider, streamed, run):
    gateway.script(provider, *LOOP)
    async with connected(gateway, run) as client:
        answer, called = await run(client, gateway.MODELS[provider], streamed)
    assert answer == ANSWER
    assert sorted(called, key=str) == sorted(CALLS, key=str)
    assert gateway.rejections(provider) == []


@pytest.mark.parametrize("turn", [{"fail": [3, "Overloaded"]}, {"end": 3}])
async def test_broken_streams_of_messages_are_errors(gateway, provider, turn):
    gateway.script(provider, {"text": "Sunny and warm", **turn})
    async with connected(gateway, anthropic_sdk) as client:
        with pytest.raises(anthropic.APIError):
            async with client.messages.stream(model=gateway.MODELS[provider], max_tokens=2000, messages=[{"role": "user", "content": QUESTION}]) as stream:
                await stream.get_final_message()
