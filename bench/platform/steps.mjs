// Workers that do a little more each: what any Worker that answers a call has to do, without the work
// of the call itself.

const MADE_ONCE = `
const ANSWER = '{"call_id":"123e4567-e89b-12d3-a456-426614174000","duration":0,"success":true,"value":15}';
const HEADERS = new Headers({ "content-type": "application/json", "cache-control": "no-store", "oxp-version": "1.0" });
const memory = new Uint8Array(new WebAssembly.Memory({ initial: 1 }).buffer);
const length = new TextEncoder().encodeInto(ANSWER, memory).written;
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const ask = (headers) => [headers.get("content-length"), headers.get("content-type"), headers.get("oxp-version")];
let end = length;
function write(text) {
  for (let at = 0; at < text.length; at += 1) memory[end + at] = text.charCodeAt(at);
  return text.length;
}
`;

const STEPS = [
  ["nothing", "answers with nothing", "return new Response(null);"],
  ["text", "reads the body as text", "await request.text(); return new Response(null);"],
  ["answer", "and answers with a text", "await request.text(); return new Response(ANSWER);"],
  [
    "headers",
    "under three headers, made once",
    "await request.text(); return new Response(ANSWER, { status: 200, headers: HEADERS });",
  ],
  [
    "asked",
    "and asks for three headers of the request",
    "ask(request.headers); await request.text(); return new Response(ANSWER, { status: 200, headers: HEADERS });",
  ],
  [
    "memory",
    "and writes method, address and body to a memory, where it finds the answer",
    `const { method, url, headers } = request;
    ask(headers);
    const body = await request.text();
    write(method);
    write(url);
    write(body);
    const answer = decoder.decode(memory.subarray(0, length));
    return new Response(answer, { status: 200, headers: HEADERS });`,
  ],
];

export const steps = STEPS.map(([name, title, does]) => {
  const source = `${MADE_ONCE}\nexport default { async fetch(request) { ${does} } };\n`;
  return { name, title, modules: [{ name: "worker.js", type: "esModule", bytes: source }] };
});
