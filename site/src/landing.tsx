// The first page: adds the tools, a call of one of them, tabs for the clients and buttons to copy to the HTML that is readable
// without it.
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { CallCode } from "./call.tsx";
import { type Example, firstCall } from "./example.ts";
import { stringify } from "./json.ts";
import { credential, onCredential } from "./credential.ts";
import { Credentials, GetKey, whyClosed } from "./key.tsx";
import { Copy, Tabs, Unreachable } from "./parts.tsx";
import { type Protocol, protocols } from "./protocols.ts";
import { type Details, type Reply, type Tool, address, details, index, tools } from "./server.ts";
import { grouped, nameOf, newestOf } from "./tools.ts";

type List = Tool[] | Reply | "unreachable" | undefined;

function Tools({ list, more }: { list: List; more: Map<string, Details> }) {
  if (list === undefined) return <p class="soft" role="status">Loading…</p>;
  if (list === "unreachable") return <Unreachable retry={load} />;
  if (!Array.isArray(list)) {
    if (list.status !== 401) return <p class="notice">The tools could not be listed. Reload the page to try again.</p>;
    return <div class="notice"><p>{credential() ? `${whyClosed(credential()).problem}.` : "The list of tools needs credentials."}</p><GetKey /></div>;
  }
  if (list.length === 0) return <p class="notice">There are no tools that you may call on this server.</p>;
  const current = newestOf(list);
  return (
    <div class="toolkits">
      {[...grouped(current)].map(([toolkit, group]) => (
        <section key={toolkit}>
          <h3>{toolkit}</h3>
          <ul>
            {group.map((tool) => {
              const found = more.get(tool.name);
              return (
                <li key={tool.id}>
                  <div class="about">
                    <p class="head">
                      <strong>{found?.title ?? nameOf(tool.id)}</strong> <code>{tool.id}</code>
                      {found?.scopes.map((scope) => <span class="badge" key={scope}>{scope}</span>)}
                      {tool.requirements?.authorization?.map(({ id }) => <span class="badge" key={id}>needs {id}</span>)}
                    </p>
                    <p>{tool.description}</p>
                    {found?.examples[0] && <p class="example"><code>{stringify(found.examples[0].input)}</code></p>}
                  </div>
                  <p data-needs="playground"><a href={`/playground#${encodeURIComponent(tool.id)}`} aria-label={`Try it: ${tool.id}`}>Try it</a></p>
                </li>
              );
            })}
          </ul>
        </section>
      ))}
    </div>
  );
}

/** A call that the visitor may make, instead of the page's own code with placeholders. */
function FirstCall({ example: { tool, input }, protocol }: { example: Example; protocol: Protocol }) {
  return (
    <>
      <p>This calls <code>{tool.id}</code>. <a data-needs="playground" href={`/playground#${encodeURIComponent(tool.id)}`}>Open it in the playground</a></p>
      <CallCode protocol={protocol} tool={tool} input={input} />
    </>
  );
}

/** Shows one client at a time. Without JavaScript, all of them are on the page. */
function Clients({ sections }: { sections: HTMLElement[] }) {
  const names = sections.map((section) => section.dataset["client"] ?? "");
  const [chosen, setChosen] = useState(names[0] ?? "");
  useEffect(() => {
    for (const section of sections) section.hidden = section.dataset["client"] !== chosen;
  }, [chosen]);
  return <Tabs names={names} chosen={chosen} label="Client" panel="clients" choose={setChosen} />;
}

/** Links that add the server to an editor, as the editors document them. */
function installLink(client: string): { href: string; text: string } | undefined {
  const url = `${address()}/mcp`;
  if (client === "VS Code") {
    return { href: `vscode:mcp/install?${encodeURIComponent(JSON.stringify({ name: "toolbooth", type: "http", url }))}`, text: "Add to VS Code" };
  }
  if (client === "Cursor") {
    return { href: `cursor://anysphere.cursor-deeplink/mcp/install?name=toolbooth&config=${encodeURIComponent(btoa(JSON.stringify({ url })))}`, text: "Add to Cursor" };
  }
  return undefined;
}

function mount(place: Element | null, part: preact.ComponentChild) {
  if (!place) return;
  place.replaceChildren();
  render(part, place);
}

const toolList = document.getElementById("tool-list");
const firstCalls = document.getElementById("first-call");
const placeholder = document.getElementById("placeholder-call");
toolList?.replaceChildren();

/** Shows the tools, and a call of one of them if there is one that the visitor may make. */
function show(list: List, more: Map<string, Details>, served: Protocol[]) {
  if (toolList) render(<Tools list={list} more={more} />, toolList);
  const [protocol] = served;
  const example = Array.isArray(list) ? firstCall(list, more) : undefined;
  const isShown = protocol !== undefined && example !== undefined;
  if (firstCalls) render(isShown ? <FirstCall key={example.tool.id} example={example} protocol={protocol} /> : null, firstCalls);
  if (placeholder) placeholder.hidden = isShown;
}

let loads = 0;

async function load() {
  const number = (loads += 1);
  const isCurrent = () => number === loads;
  let list: List;
  show(list, new Map(), []);
  try {
    list = await tools();
    if (isCurrent()) show(list, new Map(), []);
    if (!Array.isArray(list)) return;
    const [more, served] = await Promise.all([details(), index()]);
    if (isCurrent()) show(list, more, protocols(served));
  } catch {
    // Without the second part, the list is still of use.
    if (isCurrent()) show(list ?? "unreachable", new Map(), []);
  }
}

mount(document.getElementById("credentials"), <Credentials />);
for (const block of document.querySelectorAll<HTMLElement>(".code-block")) {
  const place = document.createElement("div");
  block.append(place);
  mount(place, <Copy text={block.querySelector("code")?.textContent ?? ""} />);
}
// A server that accepts no keys has no instructions for clients that only send one.
const ways = (document.documentElement.dataset["ways"] ?? "").split(" ");
const isServed = ({ dataset: { way } }: HTMLElement) => way === undefined || way.split(" ").some((one) => ways.includes(one));
const sections = [...document.querySelectorAll<HTMLElement>("[data-client]")].filter(isServed);
for (const section of sections) {
  const link = installLink(section.dataset["client"] ?? "");
  if (!link) continue;
  const place = document.createElement("p");
  section.querySelector("h3")?.after(place);
  mount(place, <a class="button" href={link.href}>{link.text}</a>);
}
mount(document.getElementById("client-tabs"), <Clients sections={sections} />);
onCredential((change) => change === "credential" && void load());
void load();
