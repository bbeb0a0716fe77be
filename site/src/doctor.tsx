// The page of `GET /doctor`: what each client still needs to connect to this server, and how to fix it.
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { at } from "./json.ts";
import { Code } from "./parts.tsx";
import { send } from "./server.ts";

/** The report of the server. */
interface Report {
  /** What people paste into the client. */
  url?: string;
  connectors: { id: string; title: string; ok: boolean; missing: string[] }[];
  checks: Check[];
}

interface Check {
  id: string;
  /** null: it depends on another server, or on a variable that is not valid. */
  ok: boolean | null;
  meaning: string;
  fix?: string;
  connectors: string[];
}

async function load(): Promise<Report | undefined> {
  const { json } = await send("/doctor");
  return Array.isArray(at(json, "/checks")) ? (json as unknown as Report) : undefined;
}

function Doctor() {
  const [report, setReport] = useState<Report | "none">();
  useEffect(() => void load().then((found) => setReport(found ?? "none"), () => setReport("none")), []);
  if (report === undefined) return <p class="soft" role="status">Checking…</p>;
  if (report === "none") return <p class="notice">The report could not be loaded.</p>;
  const { url, connectors, checks } = report;
  return (
    <>
      {url && (
        <section aria-labelledby="address">
          <h2 id="address">The address to paste into a client</h2>
          <Code text={url} label="address" />
        </section>
      )}
      <section aria-labelledby="clients">
        <h2 id="clients">Clients</h2>
        <ul class="clients">
          {connectors.map(({ id, title, ok, missing }) => {
            const failed = checks.filter((check) => missing.includes(check.id));
            const open = checks.filter((check) => check.ok === null && check.connectors.includes(id));
            return (
              <li key={id}>
                <h3>{title} <span class={ok ? "badge good" : "badge bad"}>{ok ? "ready" : failed.length === 1 ? "1 problem" : `${failed.length} problems`}</span></h3>
                {[...failed, ...open].map((check) => <Finding key={check.id} check={check} />)}
              </li>
            );
          })}
        </ul>
      </section>
      <section aria-labelledby="passed">
        <h2 id="passed">Passed</h2>
        <ul class="passed">
          {checks.filter(({ ok }) => ok).map(({ id, meaning }) => <li key={id}>{meaning}</li>)}
        </ul>
      </section>
    </>
  );
}

/** A check that failed, or that only another server can answer. */
function Finding({ check: { ok, meaning, fix } }: { check: Check }) {
  return (
    <div class="finding">
      <p><strong>{ok === null ? "Cannot be checked here:" : "Not yet:"}</strong> {meaning}</p>
      {fix && <p class="fix">{fix}</p>}
    </div>
  );
}

const app = document.getElementById("report");
if (app) {
  app.replaceChildren();
  render(<Doctor />, app);
}
