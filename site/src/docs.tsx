// The documentation: adds the search and buttons to copy.
import { render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Copy } from "./parts.tsx";
import { type Match, type Section, searchIn } from "./search.ts";

type Results = "loading" | "failed" | Match[];

/** What is shown instead of results. */
function inWords(results: Results): string | undefined {
  if (results === "loading") return "Searching…";
  if (results === "failed") return "The search could not be loaded.";
  return results.length === 0 ? "Nothing found." : undefined;
}

async function load(path: string): Promise<ReturnType<typeof searchIn>> {
  const response = await fetch(path);
  if (!response.ok) throw new Error(`Status ${response.status}`);
  return searchIn((await response.json()) as Section[]);
}

/** A field with a list of results: the combobox of the ARIA patterns. The focus stays in the field. */
function Search({ path }: { path: string }) {
  const loading = useRef<ReturnType<typeof load>>(undefined);
  const latest = useRef("");
  const [query, setQuery] = useState("");
  const [results, setResults] = useState<Results>("loading");
  // The index of the result that Enter opens; -1 before an arrow has been pressed, when it opens the first.
  const [active, setActive] = useState(-1);
  const list = useRef<HTMLDivElement>(null);
  // The index is only loaded for those who search. After a failure, the next letter tries again.
  const prepare = () => {
    loading.current ??= load(path);
    loading.current.catch(() => (loading.current = undefined));
    return loading.current;
  };
  const find = async (text: string) => {
    setQuery(text);
    setActive(-1);
    latest.current = text;
    try {
      const search = await prepare();
      if (latest.current === text) setResults(text.trim() === "" ? [] : search(text));
    } catch {
      if (latest.current === text) setResults("failed");
    }
  };
  const found = Array.isArray(results) && query.trim() !== "" ? results : [];
  const options = () => [...(list.current?.querySelectorAll<HTMLElement>("[role=option]") ?? [])];
  useEffect(() => options()[active]?.scrollIntoView({ block: "nearest" }), [active]);
  const close = () => void find("");
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    if (event.key === "Escape") return close();
    if (found.length === 0) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    // Before the first arrow, up leads to the last result.
    if (step !== undefined) setActive((active === -1 && step === -1 ? found.length - 1 : active + step + found.length) % found.length);
    else if (event.key === "Enter") options()[Math.max(0, active)]?.click();
    else return;
    event.preventDefault();
  };
  const onFocusOut = ({ currentTarget, relatedTarget }: preact.TargetedFocusEvent<HTMLElement>) => {
    if (relatedTarget instanceof Node && !currentTarget.contains(relatedTarget)) close();
  };
  const message = query.trim() === "" ? undefined : inWords(results);
  return (
    <search class="search" onFocusOut={onFocusOut}>
      <label for="search" class="visually-hidden">Search the documentation</label>
      <input
        id="search"
        type="text"
        role="combobox"
        placeholder="Search"
        enterkeyhint="search"
        autocomplete="off"
        aria-autocomplete="list"
        aria-expanded={found.length > 0}
        aria-controls={found.length > 0 ? "results" : undefined}
        aria-activedescendant={found[active] && `result-${active}`}
        value={query}
        onFocus={() => void prepare().catch(() => {})}
        onInput={({ currentTarget }) => void find(currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <p class="visually-hidden" role="status">{message ?? (found.length === 0 ? "" : found.length === 1 ? "1 result" : `${found.length} results`)}</p>
      {message && <p class="results soft">{message}</p>}
      {found.length > 0 && (
        <div class="results" id="results" role="listbox" aria-label="Results" ref={list}>
          {found.map(({ section, excerpt }, index) => (
            <a key={section.id} id={`result-${index}`} role="option" aria-selected={index === active} tabIndex={-1} href={section.at} onClick={close}>
              <strong>{section.title}</strong> <span class="soft">{section.page}</span>
              <span class="excerpt">{excerpt}</span>
            </a>
          ))}
        </div>
      )}
    </search>
  );
}

const place = document.getElementById("docs-search");
const path = place?.dataset["index"];
if (place && path) render(<Search path={path} />, place);
// The current page may be far down the list, which scrolls by itself next to a long article.
const list = document.querySelector<HTMLElement>(".docs-nav");
const current = list?.querySelector<HTMLElement>("[aria-current]");
if (list && current && current.offsetTop + current.offsetHeight > list.clientHeight) list.scrollTop = current.offsetTop - list.clientHeight / 2;
for (const block of document.querySelectorAll<HTMLElement>(".code-block")) {
  const holder = document.createElement("div");
  block.append(holder);
  render(<Copy text={block.querySelector("code")?.textContent ?? ""} />, holder);
}
