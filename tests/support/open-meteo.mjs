// A stand-in for Open-Meteo on a loopback port: serves the files of tests/samples/weather/responses by path
// and query, like tests/samples/weather/stand_in.rs in the native tests, and errors on request.
import { readFileSync } from "node:fs";
import { listen } from "./server.mjs";

const file = (name) => readFileSync(new URL(`../samples/weather/responses/${name}.json`, import.meta.url));
const CITIES = { Berlin: "search-berlin", Ber: "search-near" };
const json = (response, status, body, headers = {}) =>
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(body);

// Errors by the requested city.
const FAULTS = {
  "canary-429": (response) => json(response, 429, '{"error":true}', { "retry-after": "7" }),
  "canary-429-date": (response) => json(response, 429, "{}", { "retry-after": "Wed, 01 Jan 2020 00:00:00 GMT" }),
  "canary-429-bare": (response) => json(response, 429, "{}"),
  "canary-500": (response) => json(response, 500, "canary: a stack trace"),
  "canary-503": (response) => json(response, 503, "", { "retry-after": "120" }),
  "canary-400": (response) => json(response, 400, '{"error":true,"reason":"canary"}'),
  "canary-404": (response) => json(response, 404, ""),
  "canary-html": (response) => response.writeHead(200, { "content-type": "text/html" }).end("<html>canary</html>"),
  "canary-cut": (response) => json(response, 200, '{"results":[{"name":"canary'),
  "canary-form": (response) => json(response, 200, '{"results":[{"name":1}]}'),
  "canary-empty": (response) => json(response, 200, ""),
  "canary-huge": (response) => json(response, 200, JSON.stringify({ results: [], padding: "x".repeat(1 << 20) })),
  "canary-reset": (response) => response.socket.resetAndDestroy(),
  "canary-half": (response) => {
    response.writeHead(200, { "content-length": "1000" });
    response.write("{", () => response.socket.resetAndDestroy());
  },
  "canary-never": () => {},
  // A city that exists, but has no forecast.
  "canary-nowhere": (response) =>
    json(response, 200, '{"results":[{"name":"Nowhere","latitude":-1,"longitude":-1,"country":"None"}]}'),
};

/** Starts it: `base` is its URL, `requests` has the `{ method, url, headers }` it received. */
export async function openMeteo() {
  const requests = [];
  const server = await listen((request, response) => {
    const { method, url, headers } = request;
    requests.push({ method, url, headers });
    const { pathname, searchParams } = new URL(url, "http://localhost");
    if (pathname === "/v1/search") {
      const city = searchParams.get("name");
      if (Object.hasOwn(FAULTS, city)) FAULTS[city](response);
      else json(response, 200, file(CITIES[city] ?? "search-none"));
    } else if (url.startsWith("/v1/forecast?latitude=52.52437&longitude=13.41053&")) {
      json(response, 200, file(searchParams.has("daily") ? "forecast-daily" : "forecast-current"));
    } else {
      json(response, 400, '{"error":true,"reason":"no such thing"}');
    }
  });
  return { ...server, base: `${server.base}/v1`, requests };
}
