// Sends a request to another server and reads the whole response. Redirects are not followed, because
// the request may carry secrets that are meant for that server only.

/**
 * Returns `{ status, retryAfter, body }`, or `{ fault }` if there is no response within `timeout`
 * milliseconds or it is longer than `maxBytes`. Throws if the request fails. The parameter `body` is
 * a view of WebAssembly memory.
 */
export async function send(method, url, headers, body, timeout, maxBytes) {
  const signal = AbortSignal.timeout(timeout);
  try {
    // WebAssembly may move its memory while this waits.
    const response = await fetch(url, { method, headers, body: body?.slice(), signal, redirect: "manual" });
    const chunks = [];
    let length = 0;
    for await (const chunk of response.body ?? []) {
      length += chunk.length;
      if (length > maxBytes) return { fault: "too large" };
      chunks.push(chunk);
    }
    const whole = new Uint8Array(await new Blob(chunks).arrayBuffer());
    return { status: response.status, retryAfter: retryAfter(response.headers), body: whole };
  } catch (error) {
    if (signal.aborted) return { fault: "timeout" };
    throw error;
  }
}

/** The seconds of `Retry-After`, or of the header that OpenAI sends with milliseconds; undefined if there are none. */
export function retryAfter(headers) {
  const milliseconds = Number(headers.get("retry-after-ms"));
  return milliseconds > 0 ? String(Math.ceil(milliseconds / 1000)) : (headers.get("retry-after") ?? undefined);
}
