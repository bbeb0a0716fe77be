// Sends a request to another server and reads its whole answer. A redirect is an answer: what the
// request carries is for the server that was asked.

/**
 * Gives `{ status, retryAfter, body }`, or `{ fault }` when there is no answer within `timeout`
 * milliseconds or it is longer than `most` bytes; throws when there is none at all. `body` is a
 * view of WebAssembly memory.
 */
export async function send(method, url, headers, body, timeout, most) {
  const signal = AbortSignal.timeout(timeout);
  try {
    // WebAssembly may move its memory while this waits.
    const answer = await fetch(url, { method, headers, body: body?.slice(), signal, redirect: "manual" });
    const chunks = [];
    let length = 0;
    for await (const chunk of answer.body ?? []) {
      length += chunk.length;
      if (length > most) return { fault: "too large" };
      chunks.push(chunk);
    }
    const whole = new Uint8Array(await new Blob(chunks).arrayBuffer());
    const retryAfter = answer.headers.get("retry-after") ?? undefined;
    return { status: answer.status, retryAfter, body: whole };
  } catch (error) {
    if (signal.aborted) return { fault: "timeout" };
    throw error;
  }
}
