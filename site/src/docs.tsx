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

type Index = MiniSearch<Section>;
type Results = "loading" | "failed" | { section: Section; terms: string[] }[];

/** What is shown instead of results. */
function inWords(results: Results): string | undefined {
  if (results === "loading") return "Searching…";
  if (results === "failed") return "The search could not be loaded.";
  return results.length === 0 ? "Nothing found." : undefined;
}

async function load(path: string): Promise<{ search: Index; sections: Section[] }> {
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

function Search({ path }: { path: string }) {
  const loading = useRef<ReturnType<typeof load>>(undefined);
  const latest = useRef("");
  const [query, setQuery] = useState("");
  const [results, setResults] = useState<Results>("loading");
  // The index is only loaded for those who search. After a failure, the next letter tries again.
  const prepare = () => {
    loading.current ??= load(path);
    loading.current.catch(() => (loading.current = undefined));
    return loading.current;
  };
  const find = async (text: string) => {
    setQuery(text);
    latest.current = text;
    try {
      const { search, sections } = await prepare();
      if (latest.current !== text) return;
      const matches = text.trim() === "" ? [] : search.search(text).slice(0, 8);
      setResults(matches.flatMap(({ id, terms }) => (sections[id] ? [{ section: sections[id], terms }] : [])));
    } catch {
      if (latest.current === text) setResults("failed");
    }
  };
  const found = Array.isArray(results) ? results : [];
  return (
    <search class="search">
      <label for="search" class="visually-hidden">Search the documentation</label>
      <input id="search" type="search" placeholder="Search" autocomplete="off" value={query} onFocus={() => void prepare().catch(() => {})} onInput={({ currentTarget }) => void find(currentTarget.value)} />
      <p class="visually-hidden" role="status">{query.trim() === "" ? "" : (inWords(results) ?? (found.length === 1 ? "1 result" : `${found.length} results`))}</p>
      {query.trim() !== "" && (
        <ul class="results">
          {found.map(({ section, terms }) => (
            <li key={section.id}>
              <a href={section.at} onClick={() => setQuery("")}>
                <strong>{section.title}</strong> <span class="soft">{section.page}</span>
                <span class="excerpt">{excerpt(section.text, terms)}</span>
              </a>
            </li>
          ))}
          {inWords(results) && <li class="soft">{inWords(results)}</li>}
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
