"""Calls the operations of a document with FastMCP's from_openapi.

python fastmcp_calls.py <document> <base address>: each line of standard input is a call, `{case, method, path, values, whole}`. `values` is a
list of `[place, name, value]`, and `whole` a list with the body, if it is one value. The header `X-Case` of a request has the number of its
call. Prints what could not be sent: `{case, error}`.
"""

import asyncio
import json
import logging
import sys

import httpx2
from fastmcp import FastMCP

logging.disable(logging.WARNING)


def arguments(tool, call):
    """The arguments by the names that FastMCP gives them."""
    known = {(at["location"], at["openapi_name"]): name for name, at in tool._route.parameter_map.items()}
    found = {}
    for place, name, value in call["values"]:
        if (place, name) not in known:
            raise LookupError(f"FastMCP has no {place} parameter {name}")
        found[known[place, name]] = value
    if call["whole"]:
        [body] = call["whole"]
        names = [name for (place, _), name in known.items() if place == "body"]
        members = body.items() if isinstance(body, dict) else []
        if len(names) == 1 and ("body", names[0]) not in {("body", name) for name, _ in members}:
            found[names[0]] = body
        else:
            for name, value in members:
                if ("body", name) not in known:
                    raise LookupError(f"FastMCP has no member {name} of the body")
                found[known["body", name]] = value
    return found


async def main(document, base):
    with open(document, encoding="utf-8") as file:
        spec = json.load(file)
    async with httpx2.AsyncClient(base_url=base, timeout=30) as client:
        server = FastMCP.from_openapi(openapi_spec=spec, client=client, validate_output=False)
        tools = {(tool._route.method.upper(), tool._route.path): tool for tool in await server.list_tools()}
        for line in sys.stdin:
            call = json.loads(line)
            tool = tools.get((call["method"], call["path"]))
            client.headers["X-Case"] = str(call["case"])
            try:
                if tool is None:
                    raise LookupError("FastMCP has no such operation")
                await tool.run(arguments(tool, call))
            except Exception as error:
                print(json.dumps({"case": call["case"], "error": f"{type(error).__name__}: {error}"[:300]}), flush=True)


asyncio.run(main(*sys.argv[1:]))
