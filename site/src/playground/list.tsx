// The list of tools: a column next to the form, on narrow screens a menu.
import { useMemo, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import type { Details, Tool } from "../server.ts";
import { grouped, isOld, nameOf } from "../tools.ts";

interface ListProps {
  tools: Tool[];
  details: Map<string, Details>;
  chosen: string;
  choose(id: string): void;
  /** What follows the tools. */
  children: ComponentChildren;
}

export function ToolList({ tools, details, chosen, choose, children }: ListProps) {
  const [filter, setFilter] = useState("");
  const shown = useMemo(() => {
    const words = filter.toLowerCase().split(/\s+/);
    const matches = ({ id, name, description }: Tool) => words.every((word) => `${id} ${description} ${details.get(name)?.title ?? ""}`.toLowerCase().includes(word));
    return tools.filter(matches);
  }, [tools, details, filter]);
  const titleOf = ({ id, name }: Tool) => details.get(name)?.title ?? nameOf(id);
  return (
    <nav class="tool-list" aria-label="Tools">
      <div class="menu" hidden={tools.length === 0}>
        <label for="tool-menu">Tool</label>
        <select id="tool-menu" value={chosen} onChange={({ currentTarget }) => choose(currentTarget.value)}>
          {chosen === "" && <option value="" disabled>Choose a tool</option>}
          {[...grouped(tools)].map(([toolkit, group]) => (
            <optgroup key={toolkit} label={toolkit}>
              {group.map((tool) => (
                <option key={tool.id} value={tool.id}>{titleOf(tool)}{isOld(tool, tools) ? ` ${tool.version}` : ""}</option>
              ))}
            </optgroup>
          ))}
        </select>
      </div>
      <div class="column">
        {tools.length > 6 && <input type="search" aria-label="Filter tools" placeholder="Filter tools" value={filter} onInput={({ currentTarget }) => setFilter(currentTarget.value)} />}
        {[...grouped(shown)].map(([toolkit, group]) => (
          <section key={toolkit}>
            <h2>{toolkit}</h2>
            <ul>
              {group.map((tool) => (
                <li key={tool.id}>
                  <a href={`#${encodeURIComponent(tool.id)}`} aria-current={tool.id === chosen ? "page" : undefined} class={isOld(tool, tools) ? "old" : undefined}>
                    <span>{titleOf(tool)}</span>
                    <span class="version">{tool.version}</span>
                  </a>
                </li>
              ))}
            </ul>
          </section>
        ))}
        {shown.length === 0 && tools.length > 0 && <p class="soft">No tool matches.</p>}
      </div>
      {children}
    </nav>
  );
}
