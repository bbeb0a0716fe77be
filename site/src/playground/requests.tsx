// The last requests of this page, as they were sent and answered: with headers, and without credentials. They stay in memory, until the
// visitor's credential changes.
import { onCredential } from "../credential.ts";
import { Code } from "../parts.tsx";
import { type Reply, headers } from "../server.ts";

interface Sent {
  number: number;
  path: string;
  request: string;
  reply: Reply;
}

/** The most requests that are kept. */
const MOST = 10;

let last: Sent[] = [];
let sent = 0;
onCredential((change) => {
  if (change === "credential") last = [];
});

const raw = (first: string, all: [string, string][], body: string): string => [first, ...all.map(([name, value]) => `${name}: ${value}`), "", body].join("\n");

/** Keeps a call. `body` is what was sent, without tokens and secrets. */
export function keep(path: string, body: string, more: Record<string, string>, reply: Reply): void {
  const all = Object.entries(headers({ "content-type": "application/json", ...more }));
  const shown = all.map(([name, value]): [string, string] => [name, name === "authorization" ? "Bearer …" : value]);
  last = [{ number: (sent += 1), path, request: raw(`POST ${path}`, shown, body), reply }, ...last].slice(0, MOST);
}

export function LastRequests() {
  if (last.length === 0) return null;
  return (
    <section class="requests" aria-labelledby="requests-title">
      <h2 id="requests-title">Last requests</h2>
      {last.map(({ number, path, request, reply }) => (
        <details key={number}>
          <summary><code>POST {path}</code> {reply.status} · {Math.max(1, Math.round(reply.duration))} ms</summary>
          <Code text={request} label={`request ${number}`} />
          <Code text={raw(String(reply.status), reply.headers, reply.text)} label={`response ${number}`} />
        </details>
      ))}
    </section>
  );
}
