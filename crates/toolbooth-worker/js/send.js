// Sends a request to another server and reads the whole response. Redirects are not followed, because
// the request may carry secrets that are meant for that server only.

/** Types of text, whose beginning may have the mark of UTF-16. */
const TEXT = /^text\/|[/+](?:x-)?(?:json|xml|csv|yaml|javascript|graphql|jsonl|ndjson|toml)\b/i;
/** Types that are no text. Some servers add a charset to all their responses. */
const BINARY = /^(?:audio|font|image(?!\/svg)|video)\/|^application\/(?:gzip|octet-stream|pdf|zip)\b/i;
/** Where documents of XML and HTML name their charset themselves. */
const DECLARED = /<\?xml[^>]*\sencoding\s*=\s*["']([^"']+)|<meta[^>]*\bcharset\s*=\s*["']?([^\s"'/>;]+)/i;
/** How much of a document is searched for that: as much as browsers do. */
const HEAD = 1024;

/**
 * Returns `{ status, retryAfter, maxAge, link, body, isCut }`, or `{ fault }` if there is no response within `timeout`
 * milliseconds or it is longer than `maxBytes`. With `cut`, a longer one is cut there instead. With `text`, a body in another
 * charset becomes UTF-8. Throws if the request fails. The parameter `body` is a view of WebAssembly memory.
 */
export async function send(binding, method, url, headers, body, timeout, maxBytes, cut, text) {
  const signal = AbortSignal.timeout(timeout);
  try {
    // WebAssembly may move its memory while this waits.
    const response = await request(binding, url, { method, headers, body: body?.slice(), signal });
    const { bytes, isCut } = await read(response, maxBytes, cut);
    if (isCut && !cut) return { fault: "too large" };
    const [after, age] = [retryAfter(response.headers), maxAge(response.headers)];
    const content = text ? utf8(bytes, response.headers.get("content-type"), isCut) : bytes;
    return { status: response.status, retryAfter: after, maxAge: age, link: response.headers.get("link") ?? undefined, body: content, isCut };
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

/**
 * The bytes of a body as UTF-8, by the labels of the Encoding Standard. They stay as they are if their charset is UTF-8, unknown or
 * wrong. `isCut`: the last character may be incomplete.
 */
export function utf8(bytes, contentType, isCut) {
  const label = labelOf(bytes, contentType ?? "");
  if (label === undefined) return bytes;
  try {
    const text = new TextDecoder(label, { fatal: true }).decode(bytes, { stream: isCut });
    // Text has no such character: these bytes are something else.
    return text.includes("\0") ? bytes : new TextEncoder().encode(text);
  } catch {
    return bytes;
  }
}

/** The label of the charset of a body; undefined if it is UTF-8, or not known. */
function labelOf(bytes, type) {
  if (BINARY.test(type)) return undefined;
  const [, quoted, plain] = /;\s*charset\s*=\s*(?:"([^"]+)"|([^\s;"]+))/i.exec(type) ?? [];
  const declared = quoted ?? plain;
  if (declared === undefined && !TEXT.test(type)) return undefined;
  // The mark at the beginning comes before what the header says.
  const mark = bytes.length < 2 ? 0 : (bytes[0] << 8) | bytes[1];
  if (mark === 0xfeff || mark === 0xfffe) return mark === 0xfeff ? "utf-16be" : "utf-16le";
  if (mark === 0xefbb && bytes[2] === 0xbf) return undefined;
  // JSON is UTF-8, whatever the header says (RFC 8259, 8.1). Some servers write what it says nevertheless.
  if (declared !== undefined && /^[^;]*[/+]json\b/i.test(type) && isUtf8(bytes)) return undefined;
  const label = declared ?? (/[/+](?:xml|html)\b/i.test(type) ? ofDocument(bytes) : undefined);
  return label === undefined || /^utf-?8$/i.test(label.trim()) ? undefined : label;
}

function ofDocument(bytes) {
  const [, xml, html] = DECLARED.exec(new TextDecoder("latin1").decode(bytes.subarray(0, HEAD))) ?? [];
  return xml ?? html;
}

/** Whether the bytes are UTF-8. Those of other charsets that have only ASCII are, too, but not those of UTF-16. */
function isUtf8(bytes) {
  if (bytes.includes(0)) return false;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}
