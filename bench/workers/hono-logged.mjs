// The tool service with Hono, which logs each call in the same line as ours. It counts the characters of the response, not its
// bytes, because that costs less.
import { Hono } from "hono";
import { name, version } from "tool";

import { HEADERS, call } from "./call.mjs";

const app = new Hono();

app.post("/tools/call", async (c) => {
  const started = Date.now();
  const result = call(c.req.header("content-type"), c.req.header("oxp-version"), await c.req.text());
  const { status } = result;
  const body = JSON.stringify(result.body);
  const line = {
    audit: 1,
    event: "call",
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": name,
    "tool.version": version,
    protocol: "root",
    caller: "anonymous",
    outcome: status === 200 ? "done" : "rejected",
    duration_ms: Date.now() - started,
    "http.request.body.size": Number(c.req.header("content-length")),
    "http.response.body.size": body.length,
    "http.response.status_code": status,
  };
  console.log(JSON.stringify(line));
  return c.body(body, status, HEADERS);
});

export default app;
