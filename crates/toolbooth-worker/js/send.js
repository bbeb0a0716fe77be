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
    const retryAfter = response.headers.get("retry-after") ?? undefined;
    return { status: response.status, retryAfter, body: whole };
  } catch (error) {
    if (signal.aborted) return { fault: "timeout" };
    throw error;
  }
}
