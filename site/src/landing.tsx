// The first page: adds the tools, tabs for the clients and buttons to copy to the HTML that is readable without it.
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { stringify } from "./json.ts";
import { KeyButton, useKeyChanges } from "./key.tsx";
import { Copy, Tabs } from "./parts.tsx";
import { type Details, type Reply, type Tool, details, tools } from "./server.ts";
import { grouped, isOld, nameOf } from "./tools.ts";

function Tools() {
  const changes = useKeyChanges();
  const [list, setList] = useState<Tool[] | Reply | "unreachable">();
  const [more, setMore] = useState(new Map<string, Details>());
  useEffect(() => {
    let current = true;
    const load = async () => {
      const found = await tools();
      if (current) setList(found);
      const more = Array.isArray(found) ? await details() : new Map<string, Details>();
      if (current) setMore(more);
    };
    load().catch(() => current && setList("unreachable"));
    return () => {
      current = false;
    };
  }, [changes]);
  if (list === undefined) return <p class="soft" role="status">Loading…</p>;
  if (list === "unreachable") return <p class="notice">The server did not respond.</p>;
  if (!Array.isArray(list)) return <p class="notice">{list.status === 401 ? "The list of tools needs credentials. Set a key at the top of this page to see it." : "The server does not list its tools."}</p>;
  if (list.length === 0) return <p class="notice">You may not call any tools on this server.</p>;
  const current = list.filter((tool) => !isOld(tool, list));
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
  // PUBLIC_URL may differ from the address of the page.
  const url = document.querySelector(".address + .code-block code")?.textContent.trim() ?? "";
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

mount(document.getElementById("credentials"), <KeyButton />);
mount(document.getElementById("tool-list"), <Tools />);
for (const block of document.querySelectorAll<HTMLElement>(".code-block")) {
  const place = document.createElement("div");
  block.append(place);
  mount(place, <Copy text={block.querySelector("code")?.textContent ?? ""} />);
}
const sections = [...document.querySelectorAll<HTMLElement>("[data-client]")];
for (const section of sections) {
  const link = installLink(section.dataset["client"] ?? "");
  if (!link) continue;
  const place = document.createElement("p");
  section.querySelector("h3")?.after(place);
  mount(place, <a class="button" href={link.href}>{link.text}</a>);
}
mount(document.getElementById("client-tabs"), <Clients sections={sections} />);
