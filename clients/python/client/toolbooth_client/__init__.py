"""The client of 2api.ai's page "Tool Calling" (4.2), around OpenAI's package."""

import os
from collections.abc import Iterable
from typing import Any

import openai
from openai.types.chat import ChatCompletion

__version__ = "0.1.0"
__all__ = ["Client", "Response"]


class Response:
    """An answer. `completion` has all of it."""

    def __init__(self, completion: ChatCompletion):
        choice = completion.choices[0]
        self.content = choice.message.content
        self.tool_calls = choice.message.tool_calls
        self.finish_reason = choice.finish_reason
        self.completion = completion


class Client:
    """A client of the gateway at `base_url`; `options` are those of `openai.OpenAI`."""

    def __init__(self, base_url: str | None = None, api_key: str | None = None, model: str = "openai/gpt-5", **options: Any):
        base_url = base_url or os.environ.get("TOOLBOOTH_URL", "http://localhost:8787/v1")
        api_key = api_key or os.environ.get("TOOLBOOTH_KEY", "development-key")
        self.model = model
        self.openai = openai.OpenAI(base_url=base_url, api_key=api_key, **options)

    def chat(self, messages: Iterable[Any], tools: Iterable[Any] | None = None, **more: Any) -> Response:
        """Asks the model; `more` are members of the request, such as `tool_choice`, or a different `model`."""
        if tools is not None:
            more["tools"] = tools
        return Response(self.openai.chat.completions.create(messages=messages, **{"model": self.model, **more}))
