// The tool service in JavaScript, without a framework.
import { HEADERS, call, rejection } from "./call.mjs";

export default {
  async fetch(request) {
    const { status, body } = await answer(request);
    return new Response(JSON.stringify(body), { status, headers: HEADERS });
  },
};

async function answer(request) {
  if (new URL(request.url).pathname !== "/tools/call") {
    return rejection(404, "There is nothing at this address", "the endpoint is POST /tools/call");
  }
  if (request.method !== "POST") {
    return rejection(405, "This address does not take this method", "it takes POST");
  }
  const { headers } = request;
  return call(headers.get("content-type"), headers.get("oxp-version"), await request.text());
}
