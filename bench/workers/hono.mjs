// The tool service with Hono, a common framework for Workers.
import { Hono } from "hono";

import { HEADERS, call, rejection } from "./call.mjs";

const app = new Hono();
const send = (c, { status, body }) => c.json(body, status, HEADERS);

app.post("/tools/call", async (c) =>
  send(c, call(c.req.header("content-type"), c.req.header("oxp-version"), await c.req.text())),
);
app.all("/tools/call", (c) =>
  send(c, rejection(405, "This address does not take this method", "it takes POST")),
);
app.notFound((c) =>
  send(c, rejection(404, "There is nothing at this address", "the endpoint is POST /tools/call")),
);

export default app;
