// Sends a request to another server and reads the whole response. Redirects are not followed, because
// the request may carry secrets that are meant for that server only.

/**
 * Returns `{ status, retryAfter, maxAge, link, body, isCut }`, or `{ fault }` if there is no response within `timeout`
 * milliseconds or it is longer than `maxBytes`. With `cut`, a longer one is cut there instead. Throws if the request
 * fails. The parameter `body` is a view of WebAssembly memory.
 */
export async function send(binding, method, url, headers, body, timeout, maxBytes, cut) {
  const signal = AbortSignal.timeout(timeout);
  try {
    // WebAssembly may move its memory while this waits.
    const response = await request(binding, url, { method, headers, body: body?.slice(), signal });
    const { bytes, isCut } = await read(response, maxBytes, cut);
    if (isCut && !cut) return { fault: "too large" };
    const [after, age] = [retryAfter(response.headers), maxAge(response.headers)];
    return { status: response.status, retryAfter: after, maxAge: age, link: response.headers.get("link") ?? undefined, body: bytes, isCut };
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

/** The bytes of a response, at most `maxBytes`, and whether there are more. Without `cut`, those of a longer one may be missing. */
export async function read(response, maxBytes, cut) {
  const length = response.headers.get("content-length");
  // A single wait. The length of compressed bytes says nothing, and neither does that in the response to HEAD.
  if (length !== null && !response.headers.has("content-encoding")) {
    if (Number(length) <= maxBytes) return { bytes: new Uint8Array(await response.arrayBuffer()), isCut: false };
    if (!cut) return { isCut: true };
  }
  const chunks = [];
  let left = maxBytes;
  let isCut = false;
  // Leaving the loop cancels the rest.
  for await (const chunk of response.body ?? []) {
    isCut = chunk.length > left;
    chunks.push(isCut ? chunk.subarray(0, left) : chunk);
    if (isCut) break;
    left -= chunk.length;
  }
  const bytes = chunks.length === 1 ? chunks[0] : new Uint8Array(await new Blob(chunks).arrayBuffer());
  return { bytes, isCut };
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
