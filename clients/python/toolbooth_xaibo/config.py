"""The provider's configuration, checked when an agent is built."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Config:
    """The ``config`` of the provider in an agent's YAML."""

    url: str
    """The server's address with ``/xaibo``, without a trailing slash."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Headers of every request."""
    timeout: float = 30.0
    """The time limit of a request, in seconds."""
    context: dict[str, Any] | None = field(default=None, repr=False)
    """``user_id``, ``authorization`` and ``secrets`` for tools that require them."""
    raise_errors: bool = False
    """Whether a failed call raises a ToolError instead of returning its result."""

    @classmethod
    def read(cls, config: Mapping[str, Any] | None) -> "Config":
        """Checks the configuration. Raises ValueError, which says what was expected and contains no value."""
        config = config or {}
        known = [*(one.name for one in fields(cls)), "base_url", "api_key"]
        for name in config:
            if name not in known:
                raise ValueError(f"config has no {name!r}; it has {', '.join(known)}")
        url = _url(config)
        headers = config.get("headers") or {}
        texts = isinstance(headers, Mapping) and all(
            isinstance(text, str) for pair in headers.items() for text in pair
        )
        if not texts:
            raise ValueError("config.headers must be a mapping of names to strings")
        api_key = config.get("api_key")
        if api_key is not None:
            if not (isinstance(api_key, str) and api_key.isascii() and api_key.isprintable() and api_key.strip()):
                raise ValueError("config.api_key must be a string of printable ASCII characters")
            if any(name.lower() == "authorization" for name in headers):
                raise ValueError("config.api_key must be absent if config.headers has Authorization")
            headers = {**headers, "Authorization": f"Bearer {api_key}"}
        timeout = config.get("timeout", cls.timeout)
        is_number = isinstance(timeout, int | float) and not isinstance(timeout, bool)
        if not (is_number and 0 < timeout < math.inf):
            raise ValueError("config.timeout must be a number of seconds greater than 0")
        context = config.get("context")
        if context is not None and not (isinstance(context, dict) and _is_json(context)):
            raise ValueError("config.context must be an object with user_id, authorization and secrets")
        raise_errors = config.get("raise_errors", cls.raise_errors)
        if not isinstance(raise_errors, bool):
            raise ValueError("config.raise_errors must be true or false")
        return cls(url, dict(headers), float(timeout), context, raise_errors)


def _url(config: Mapping[str, Any]) -> str:
    """The server's address with ``/xaibo``, from ``url`` or ``base_url``."""
    url, base_url = config.get("url"), config.get("base_url")
    if base_url is None:
        if not (isinstance(url, str) and _is_address(url)):
            raise ValueError("config.url must be the server's address with /xaibo, such as https://tools.example/xaibo")
        return url.rstrip("/")
    if url is not None:
        raise ValueError("config.base_url must be absent if config.url is present")
    if not (isinstance(base_url, str) and _is_address(base_url)):
        raise ValueError("config.base_url must be the server's address, such as https://tools.example")
    return base_url.rstrip("/").removesuffix("/xaibo") + "/xaibo"


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and not parts.query and not parts.fragment


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return True
