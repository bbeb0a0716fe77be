// The list of tools: a column next to the form, on narrow screens a menu. In a large catalogue, the server finds tools by what they
// do, as it does for models.
import { useEffect, useMemo, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { type Details, type Tool, found } from "../server.ts";
import { grouped, isSameTool, nameOf, newestOf, toolkitOf } from "../tools.ts";

interface ListProps {
  tools: Tool[];
  details: Map<string, Details>;
  chosen: string;
  /** What the menu of narrow screens has chosen. */
  choose(id: string): void;
  /** A link of the list was followed. */
  followed(): void;
  /** What follows the tools. */
  children: ComponentChildren;
}

/** Above this number of tools the server ranks them, and toolkits are folded. */
const LARGE = 40;
/** Milliseconds without a key before the server is asked. */
const PAUSE = 150;

export function ToolList({ tools: all, details, chosen, choose, followed, children }: ListProps) {
  const [query, setQuery] = useState("");
  // The versions of a tool are one row; its form leads to the others.
  const tools = useMemo(() => newestOf(all), [all]);
  const isLarge = tools.length > LARGE;
  const titleOf = ({ id, name }: Tool) => details.get(name)?.title ?? nameOf(id);
  const filtered = useMemo(() => {
    const words = query.toLowerCase().split(/\s+/);
    const matches = ({ id, name, description }: Tool) => words.every((word) => `${id} ${description} ${details.get(name)?.title ?? ""}`.toLowerCase().includes(word));
    return tools.filter(matches);
  }, [tools, details, query]);
  const ranked = useRanked(tools, isLarge ? query.trim() : "");
  const isSearch = isLarge && query.trim() !== "";
  const results = ranked ?? filtered;
  const current = tools.find(({ id }) => isSameTool(id, chosen))?.id ?? "";
  const link = (tool: Tool, more: ComponentChildren) => (
    <li key={tool.id}>
      <a href={`#${encodeURIComponent(tool.id)}`} aria-current={tool.id === current ? "page" : undefined} onClick={(event) => !opensElsewhere(event) && followed()}>
        <span>{titleOf(tool)}</span>
        {more}
      </a>
    </li>
  );
  const groups = [...grouped(isLarge ? tools : filtered)].map(([toolkit, group]) => {
    const list = <ul>{group.map((tool) => link(tool, null))}</ul>;
    if (!isLarge) return <section key={toolkit}><h2>{toolkit}</h2>{list}</section>;
    return (
      <details key={toolkit} open={toolkit === toolkitOf(chosen)}>
        <summary>{toolkit} <span class="version">{group.length}</span></summary>
        {list}
      </details>
    );
  });
  return (
    <nav class="tool-list" aria-label="Tools" onKeyDown={(event) => isSearch && move(event, () => setQuery(""))}>
      {isLarge && (
        <div class="tool-search">
          <label for="tool-search">Find a tool</label>
          <input id="tool-search" type="search" placeholder="What should it do?" autocomplete="off" value={query} onInput={({ currentTarget }) => setQuery(currentTarget.value)} />
          <p class="visually-hidden" role="status">{isSearch && (results.length === 1 ? "1 tool matches." : `${results.length} tools match.`)}</p>
        </div>
      )}
      {isSearch && results.length > 0 && <ul class="tool-results" aria-label="Tools that match, the best first">{results.map((tool) => link(tool, <span class="version">{toolkitOf(tool.id)}</span>))}</ul>}
      {isSearch && results.length === 0 && <p class="soft">No tool matches. Try other words.</p>}
      <div class="menu" hidden={tools.length === 0}>
        <label for="tool-menu">Tool</label>
        <select id="tool-menu" value={current} onChange={({ currentTarget }) => choose(currentTarget.value)}>
          {current === "" && <option value="" disabled>Choose a tool</option>}
          {[...grouped(tools)].map(([toolkit, group]) => (
            <optgroup key={toolkit} label={toolkit}>
              {group.map((tool) => (
                <option key={tool.id} value={tool.id}>{titleOf(tool)}</option>
              ))}
            </optgroup>
          ))}
        </select>
      </div>
      {!isSearch && (
        <div class="column">
          {!isLarge && tools.length > 6 && <input type="search" aria-label="Filter tools" placeholder="Filter tools" value={query} onInput={({ currentTarget }) => setQuery(currentTarget.value)} />}
          {groups}
          {!isLarge && filtered.length === 0 && tools.length > 0 && <p class="soft">No tool matches.</p>}
        </div>
      )}
      {children}
    </nav>
  );
}

/** Whether a click opens a tab or window of its own. */
const opensElsewhere = ({ ctrlKey, metaKey, shiftKey, button }: MouseEvent): boolean => ctrlKey || metaKey || shiftKey || button !== 0;

/** The tools that the server finds, the best first; undefined until it has answered a first time, and if it has no search. */
function useRanked(tools: Tool[], query: string): Tool[] | undefined {
  const [ranked, setRanked] = useState<Tool[]>();
  useEffect(() => {
    if (query === "") return setRanked(undefined);
    const stop = new AbortController();
    const ask = async () => {
      const ids = await found(query, stop.signal);
      // The list has what the page knows of a tool.
      setRanked(ids?.flatMap((id) => tools.find((tool) => tool.id === id) ?? []));
    };
    // Without an answer, the tools stay that have the words.
    const timer = setTimeout(() => void ask().catch(() => {}), PAUSE);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [tools, query]);
  return query === "" ? undefined : ranked;
}

/** Moves the focus between the field and what it has found: with the arrows, and back to an empty field with Escape. */
function move(event: KeyboardEvent & { currentTarget: HTMLElement }, clear: () => void) {
  const field = event.currentTarget.querySelector<HTMLInputElement>("#tool-search");
  const links = [...event.currentTarget.querySelectorAll<HTMLAnchorElement>(".tool-results a")];
  const at = links.indexOf(document.activeElement as HTMLAnchorElement);
  const isInField = document.activeElement === field;
  if (!field || (at < 0 && !isInField)) return;
  if (event.key === "Escape") {
    clear();
    field.focus();
  } else if (event.key === "ArrowDown") links[Math.min(at + 1, links.length - 1)]?.focus();
  else if (event.key === "ArrowUp" && !isInField) (links[at - 1] ?? field).focus();
  else if (event.key === "Enter" && isInField) links[0]?.click();
  else return;
  event.preventDefault();
}
