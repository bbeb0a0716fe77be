// The page of `GET /doctor`: what each client still needs to connect to this server, and how to fix it.
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { at } from "./json.ts";
import { Code, Copy } from "./parts.tsx";
import { index, send } from "./server.ts";

/** The report of the server. */
interface Report {
  /** What people paste into the client. */
  url?: string;
  /** `note` says how a client works with which people cannot sign in. */
  connectors: { id: string; title: string; ok: boolean; missing: string[]; note?: string }[];
  checks: Check[];
}

interface Check {
  id: string;
  /** `failed`: some client cannot work; `info`: it failed, but every client can work; `unknown`: it cannot be checked here. */
  state: "passed" | "failed" | "info" | "unknown";
  /** What is the case in this state. */
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
  if (report === "none") return <p class="notice">The report could not be loaded. Reload the page to try again.</p>;
  const { url, connectors, checks } = report;
  return (
    <>
      {url && (
        <section aria-labelledby="address">
          <h2 id="address">Paste this address into a client</h2>
          <Code text={url} label="address" />
        </section>
      )}
      <section aria-labelledby="clients">
        <h2 id="clients">Clients</h2>
        <ul class="clients">
          {connectors.map(({ id, title, ok, missing, note = "ready" }) => {
            const problems = missing.length === 1 ? "1 problem" : `${missing.length} problems`;
            return <li key={id}><strong>{title}</strong> <span class={ok ? "badge good" : "badge bad"}>{ok ? note : problems}</span></li>;
          })}
        </ul>
      </section>
      <Findings title="What to change" checks={checks.filter(({ state }) => state === "failed")} connectors={connectors} />
      <Findings title="Optional" checks={checks.filter(({ state }) => state === "info")} connectors={connectors} />
      <Findings title="Cannot be checked here" checks={checks.filter(({ state }) => state === "unknown")} connectors={connectors} />
      <section aria-labelledby="passed">
        <h2 id="passed">Passed</h2>
        <ul class="passed">
          {checks.filter(({ state }) => state === "passed").map(({ id, meaning }) => <li key={id}>{meaning}</li>)}
        </ul>
      </section>
    </>
  );
}

/** Checks that failed, or that depend on another server, each with its fix and the clients that it concerns. */
function Findings({ title, checks, connectors: all }: { title: string; checks: Check[]; connectors: Report["connectors"] }) {
  if (checks.length === 0) return null;
  const heading = title.toLowerCase().replaceAll(" ", "-");
  return (
    <section aria-labelledby={heading}>
      <h2 id={heading}>{title}</h2>
      <ul class="findings">
        {checks.map(({ id, meaning, fix, connectors }) => (
          <li key={id}>
            <p><strong>{meaning}</strong></p>
            {fix && <p>{fix}</p>}
            <p class="soft required-by">
              {connectors.length === all.length ? "Affects every client." : <>Affects {all.filter(({ id }) => connectors.includes(id)).map(({ id, title }) => <span key={id} class="badge">{title}</span>)}</>}
            </p>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The lines for coding agents are for servers with the chat gateway. */
async function showAgents(section: HTMLElement) {
  const { protocols } = await index();
  if (!protocols.some(({ endpoints }) => endpoints.some(({ path }) => path === "/v1/chat/completions"))) return;
  for (const block of section.querySelectorAll<HTMLElement>(".code-block")) {
    const place = document.createElement("div");
    block.append(place);
    render(<Copy text={block.querySelector("code")?.textContent ?? ""} />, place);
  }
  section.hidden = false;
}

const agents = document.getElementById("agents");
// Without the list of endpoints, the rest of the page is still of use.
if (agents) void showAgents(agents).catch(() => undefined);
const app = document.getElementById("report");
if (app) {
  app.replaceChildren();
  render(<Doctor />, app);
}
