// Sends a request to another server and reads the whole response. Redirects are not followed, because
// the request may carry secrets that are meant for that server only.

/**
 * Returns `{ status, retryAfter, maxAge, body }`, or `{ fault }` if there is no response within `timeout`
 * milliseconds or it is longer than `maxBytes`. Throws if the request fails. The parameter `body` is
 * a view of WebAssembly memory.
 */
export async function send(binding, method, url, headers, body, timeout, maxBytes) {
  const signal = AbortSignal.timeout(timeout);
  try {
    // WebAssembly may move its memory while this waits.
    const response = await request(binding, url, { method, headers, body: body?.slice(), signal });
    const whole = await read(response, maxBytes);
    if (whole === undefined) return { fault: "too large" };
    return { status: response.status, retryAfter: retryAfter(response.headers), maxAge: maxAge(response.headers), body: whole };
  } catch (error) {
    if (signal.aborted) return { fault: "timeout" };
    throw error;
  }
}

/**
 * The response of a server, or that of the binding of Workers AI: to GET, its models in OpenAI's format. The binding takes the
 * model and its input apart, and without the option it would parse the response.
 */
export async function request(binding, url, init) {
  if (binding === undefined) return fetch(url, { ...init, redirect: "manual" });
  if (init.method === "GET") {
    const models = await binding.models({ task: "Text Generation" });
    return Response.json({ data: models.map(({ name }) => ({ id: name })) });
  }
  const { model, ...input } = JSON.parse(new TextDecoder().decode(init.body));
  return binding.run(model, input, { returnRawResponse: true, signal: init.signal });
}

/** The bytes of a response; undefined if there are more than `maxBytes`. */
async function read(response, maxBytes) {
  const length = response.headers.get("content-length");
  // A single wait. The length of compressed bytes says nothing.
  if (length !== null && !response.headers.has("content-encoding")) {
    return Number(length) > maxBytes ? undefined : new Uint8Array(await response.arrayBuffer());
  }
  const chunks = [];
  let received = 0;
  for await (const chunk of response.body ?? []) {
    received += chunk.length;
    if (received > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return chunks.length === 1 ? chunks[0] : new Uint8Array(await new Blob(chunks).arrayBuffer());
}

/**
 * The whole seconds of `Retry-After`, which may be a date, or of the header that OpenAI sends with milliseconds; undefined
 * if there are none.
 */
export function retryAfter(headers) {
  const milliseconds = Number(headers.get("retry-after-ms"));
  if (milliseconds > 0) return String(Math.ceil(milliseconds / 1000));
  const header = headers.get("retry-after");
  if (header === null) return undefined;
  const seconds = /^[\d.]+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? undefined : String(Math.max(0, Math.ceil(seconds)));
}

/** For how many seconds the response may be kept, if it says so. */
export function maxAge(headers) {
  const control = headers.get("cache-control") ?? "";
  if (/\bno-(store|cache)\b/i.test(control)) return 0;
  const seconds = /(?:^|[\s,])max-age="?(\d{1,9})\b/i.exec(control)?.[1];
  return seconds === undefined ? undefined : Number(seconds);
}
