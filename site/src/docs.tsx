// The documentation: adds the search and buttons to copy.
import MiniSearch from "minisearch";
import { render } from "preact";
import { useRef, useState } from "preact/hooks";
import { Copy } from "./parts.tsx";

/** A section of the documentation, as the build writes it into the index. */
interface Section {
  id: number;
  /** The address, with the fragment. */
  at: string;
  page: string;
  title: string;
  text: string;
}

interface Loaded {
  search: MiniSearch<Section>;
  sections: Section[];
}

async function load(path: string): Promise<Loaded> {
  const response = await fetch(path);
  if (!response.ok) throw new Error(`Status ${response.status}`);
  const sections = (await response.json()) as Section[];
  const search = new MiniSearch<Section>({ fields: ["title", "page", "text"], searchOptions: { prefix: true, fuzzy: 0.1, combineWith: "AND", boost: { title: 4, page: 2 } } });
  search.addAll(sections);
  return { search, sections };
}

/** The words around the first match. */
function excerpt(text: string, terms: string[]): string {
  const lower = text.toLowerCase();
  const found = terms.map((term) => lower.indexOf(term)).filter((at) => at >= 0);
  const start = Math.max(0, Math.min(...(found.length > 0 ? found : [0])) - 40);
  return `${start > 0 ? "…" : ""}${text.slice(start, start + 140)}${text.length > start + 140 ? "…" : ""}`;
}

const FAILED = "The search could not be loaded. Try again, or reload the page.";

function Search({ path }: { path: string }) {
  const loading = useRef<Promise<Loaded | undefined>>(undefined);
  const latest = useRef("");
  const [query, setQuery] = useState("");
  const [results, setResults] = useState<{ section: Section; terms: string[] }[]>([]);
  const [failed, setFailed] = useState(false);
  // The index is only loaded for those who search, and again after a failure.
  const prepare = () => (loading.current ??= load(path).catch(() => (loading.current = undefined)));
  const find = async (text: string) => {
    setQuery(text);
    latest.current = text;
    const index = await prepare();
    if (latest.current !== text) return;
    setFailed(index === undefined);
    const matches = text.trim() === "" ? [] : (index?.search.search(text).slice(0, 8) ?? []);
    setResults(matches.flatMap(({ id, terms }) => (index?.sections[id] ? [{ section: index.sections[id], terms }] : [])));
  };
  return (
    <search class="search">
      <label for="search" class="visually-hidden">Search the documentation</label>
      <input id="search" type="search" placeholder="Search" autocomplete="off" value={query} onFocus={() => void prepare()} onInput={({ currentTarget }) => void find(currentTarget.value)} />
      <p class="visually-hidden" role="status">{query.trim() === "" ? "" : failed ? FAILED : `${results.length} results`}</p>
      {query.trim() !== "" && (
        <ul class="results">
          {results.map(({ section, terms }) => (
            <li key={section.id}>
              <a href={section.at} onClick={() => setQuery("")}>
                <strong>{section.title}</strong> <span class="soft">{section.page}</span>
                <span class="excerpt">{excerpt(section.text, terms)}</span>
              </a>
            </li>
          ))}
          {results.length === 0 && <li class="soft">{failed ? FAILED : "Nothing found."}</li>}
        </ul>
      )}
    </search>
  );
}

const place = document.getElementById("docs-search");
const path = place?.dataset["index"];
if (place && path) render(<Search path={path} />, place);
for (const block of document.querySelectorAll<HTMLElement>(".code-block")) {
  const holder = document.createElement("div");
  block.append(holder);
  render(<Copy text={block.querySelector("code")?.textContent ?? ""} />, holder);
}
