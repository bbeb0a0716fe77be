// A stand-in that records requests, and what two requests have in common if they say the same.
import { createServer } from "node:http";

/** What clients add on their own. FastMCP always accepts everything; a tool names the media type that its operation describes. */
const OF_CLIENTS = ["accept", "accept-encoding", "cf-connecting-ip", "cf-ew-via", "cf-ray", "cf-visitor", "cf-worker", "cdn-loop", "connection", "content-length", "host", "traceparent", "transfer-encoding", "user-agent", "x-case", "x-forwarded-proto", "x-real-ip"];

/** Starts the stand-in. `requests` has what has arrived, by the header `X-Case` or else in the order of arrival. */
export async function recorder() {
  const requests = [];
  const server = createServer((request, response) => {
    const parts = [];
    request.on("data", (part) => parts.push(part));
    request.on("end", () => {
      const { method, url, headers } = request;
      requests[Number(headers["x-case"] ?? requests.length)] = { method, url, headers, body: Buffer.concat(parts) };
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { base: `http://127.0.0.1:${server.address().port}`, requests, close: () => server.close() };
}

const sorted = (pairs) => pairs.map(([name, value]) => `${name}=${value}`).sort();

/** A request without what makes no difference: how characters are encoded, the order of the query, and spaces in JSON. */
export async function normal({ method, url, headers, body }) {
  const [path, query = ""] = url.split("?");
  const given = Object.entries(headers).filter(([name]) => !OF_CLIENTS.includes(name));
  return {
    method,
    path: path.split("/").map(decodeURIComponent),
    query: sorted([...new URLSearchParams(query)]),
    headers: sorted(given.map(([name, value]) => [name, name === "content-type" ? value.split("; boundary=")[0] : value])),
    body: body.length === 0 ? null : await content(headers["content-type"] ?? "", body),
  };
}

async function content(type, body) {
  if (/\bjson\b/.test(type)) return JSON.parse(body);
  if (!/^multipart\/|^application\/x-www-form-urlencoded/.test(type)) return body.toString();
  const form = await new Response(body, { headers: { "content-type": type } }).formData();
  const parts = await Promise.all([...form].map(async ([name, value]) => [name, typeof value === "string" ? value : `${value.type} ${await value.text()}`]));
  return sorted(parts);
}
