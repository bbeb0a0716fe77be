// The search of the documentation: which sections match a question, and the words around the match.
import MiniSearch from "minisearch";

/** A section of the documentation, as the build writes it into the index. */
export interface Section {
  id: number;
  /** The address, with the fragment. */
  at: string;
  page: string;
  title: string;
  text: string;
}

export interface Match {
  section: Section;
  excerpt: string;
}

/** Words of questions that say nothing about the subject. */
const STOP = new Set("a an and are as at be by can could do does for from get has have how i if in into is it its me my of on or should so somebody someone that the their then there this to want was we what when where which who why will with would you your".split(" "));

/** Words that mean the same here, by their stems. */
const SYNONYMS: Record<string, string> = { user: "person", peopl: "person", member: "person", delet: "remov", leak: "lost", stolen: "lost", login: "sign", logout: "sign" };

/** What a word is compared by: its stem, roughly; null if it is not compared. */
export function termOf(word: string): string | null {
  const lower = word.toLowerCase();
  if (STOP.has(lower)) return null;
  const singular = lower.replace(/ies$/, "y").replace(/(?<=..[^s])s$/, "");
  const stem = singular.length > 4 ? singular.replace(/(?<=...)(at)?(ion|ing|ed|e)$|(al|y)$/, "") : singular;
  return Object.hasOwn(SYNONYMS, stem) ? (SYNONYMS[stem] ?? null) : stem;
}

/** The words of a question. A name such as `TOOL_ALLOWLIST` counts only as a whole. */
const wordsOfQuestion = (text: string): string[] => text.match(/[\p{Letter}\p{Number}_]+/gu) ?? [];

/** The words of a text. A name counts as a whole and by its words. */
const wordsOf = (text: string): string[] => wordsOfQuestion(text).flatMap((word) => [word, ...(word.includes("_") ? word.split("_").filter(Boolean) : [])]);

/** The words around the first match, in about 140 characters. */
function excerptOf(text: string, terms: string[]): string {
  const words = [...text.matchAll(/[\p{Letter}\p{Number}_]+/gu)];
  const first = words.find(([word]) => wordsOf(word).some((part) => terms.includes(termOf(part) ?? "")))?.index ?? 0;
  const start = first < 60 ? 0 : text.lastIndexOf(" ", first - 40) + 1;
  return `${start > 0 ? "…" : ""}${text.slice(start, start + 140)}${text.length > start + 140 ? "…" : ""}`;
}

const MOST = 8;

/** Returns what finds the best matches of a question. */
export function searchIn(sections: Section[]): (question: string) => Match[] {
  const search = new MiniSearch<Section>({ fields: ["title", "page", "text"], tokenize: wordsOf, processTerm: termOf });
  search.addAll(sections);
  const options = { tokenize: wordsOfQuestion, prefix: (term: string) => term.length > 2, fuzzy: (term: string) => (term.length > 4 ? 0.2 : false), boost: { title: 6, page: 2 } };
  return (question) => {
    const all = search.search(question, { ...options, combineWith: "AND" });
    const found = all.length > 0 ? all : search.search(question, options);
    return found.slice(0, MOST).flatMap(({ id, terms }) => {
      const section = sections[id];
      return section ? [{ section, excerpt: excerptOf(section.text, terms) }] : [];
    });
  };
}
