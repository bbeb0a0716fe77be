"""The official MCP client for Python, instrumented with OpenTelemetry: its spans and the calls that the Worker logs
belong to the same trace."""

import json

import httpx2
import pytest
from conftest import started
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from opentelemetry import baggage, context, trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def exported():
    """The spans that the application has recorded."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    return exporter


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
async def test_the_spans_of_client_and_server_share_the_trace(exported, mode):
    with started("serve-logging.mjs") as (address, server):
        exported.clear()
        token = context.attach(baggage.set_baggage("user", "canary"))
        with trace.get_tracer("application").start_as_current_span("agent"):
            async with httpx2.AsyncClient(timeout=120) as http:
                transport = streamable_http_client(f"{address}/mcp", http_client=http)
                async with Client(transport, mode=mode) as client:
                    called = await client.call_tool("Calculator_Add", {"a": 2, "b": 40})
        context.detach(token)
        assert called.structured_content == {"result": 42}
        server.stdin.write("\n")
        server.stdin.flush()
        [call] = [event for event in json.loads(server.stdout.readline()) if event["event"] == "call"]
    spans = {span.name: span for span in exported.get_finished_spans()}
    agent = spans["agent"].get_span_context()
    [calling] = [span for span in spans.values() if (span.attributes or {}).get("mcp.method.name") == "tools/call"]
    assert call["trace_id"] == format(agent.trace_id, "032x") == format(calling.get_span_context().trace_id, "032x")
    assert call["parent_span_id"] == format(calling.get_span_context().span_id, "016x")
    assert call["span_id"] not in (call["parent_span_id"], format(agent.span_id, "016x"))
    assert call["mcp.method.name"] == "tools/call"
    assert call["gen_ai.tool.name"] == "Calculator_Add"
