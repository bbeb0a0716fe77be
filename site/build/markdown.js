// Renders the documentation's Markdown.
import { existsSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { Marked } from "marked";
import { escape } from "./layout.js";

/** The fragment of a heading, as GitHub makes it. */
export const slug = (text) => text.toLowerCase().replace(/[^\p{Letter}\p{Number}\s_-]/gu, "").trim().replaceAll(/\s/g, "-");

/** Code of more characters may not fit into a column of a table. */
const LONG = 20;

/**
 * Renders a page. `resolve` returns the address of a link to another file of the repository, or undefined if the site does not
 * have it: then only the text remains.
 */
export function render(markdown, resolve) {
  const taken = new Map();
  let tables = 0;
  const renderer = {
    heading({ tokens, depth }) {
      const text = this.parser.parseInline(tokens);
      const plain = slug(text.replaceAll(/<[^>]*>/g, "").replaceAll(/&\w+;|&#\d+;/g, ""));
      const count = taken.get(plain) ?? 0;
      taken.set(plain, count + 1);
      const id = count === 0 ? plain : `${plain}-${count}`;
      return `<h${depth} id="${id}">${text}${depth > 1 ? ` <a class="anchor" href="#${id}" aria-label="Link to this section">#</a>` : ""}</h${depth}>\n`;
    },
    link({ href, tokens }) {
      const text = this.parser.parseInline(tokens);
      const address = /^https?:/.test(href) || href.startsWith("#") ? href : resolve(href);
      if (address === undefined) return text;
      const outside = /^https?:/.test(address) ? ' rel="noreferrer"' : "";
      return `<a href="${escape(address)}"${outside}>${text}</a>`;
    },
    codespan({ text }) {
      // Only long names break between their words.
      const code = escape(text);
      return `<code>${text.length > LONG ? code.replaceAll(/(_|::)(?=\w)/g, "$1<wbr>") : code}</code>`;
    },
    code({ text, lang }) {
      return codeBlock(text, lang);
    },
    table({ header, rows }) {
      const cell = ({ tokens, align }, tag) => `<${tag}${tag === "th" ? ' scope="col"' : ""}${align === "right" ? ' class="number"' : ""}>${this.parser.parseInline(tokens)}</${tag}>`;
      const head = header.map((one) => (one.text === "" ? "<td></td>" : cell(one, "th"))).join("");
      const body = rows.map((row) => `<tr>${row.map((one) => cell(one, "td")).join("")}</tr>`).join("\n");
      const name = `Table ${(tables += 1)}: ${header.map(({ text }) => text.replaceAll("`", "")).filter(Boolean).join(", ")}`;
      return `<div class="table" tabindex="0" role="region" aria-label="${escape(name)}"><table><thead><tr>${head}</tr></thead><tbody>\n${body}\n</tbody></table></div>\n`;
    },
  };
  return new Marked({ renderer, gfm: true }).parse(markdown);
}

const LANGUAGES = { sh: "shell", js: "JavaScript", ts: "TypeScript", py: "Python", rust: "Rust", toml: "TOML", json: "JSON", yaml: "YAML", text: "text" };

/** Marks the options of commands, such as `--header`: where lines wrap, they would otherwise break after a hyphen. */
const withOptions = (code) => code.replaceAll(/(?<=\s)--?[a-z][\w-]*/gi, '<span class="option">$&</span>');

/** A block of code; the page's script adds a button to copy it. */
export function codeBlock(text, language = "") {
  return `<div class="code-block"><pre tabindex="0" aria-label="${LANGUAGES[language] ?? "Code"}"><code>${language === "sh" ? withOptions(escape(text)) : escape(text)}</code></pre></div>\n`;
}

/** Splits a page at its headings of the second level: `{ title, text }`, the first without a title. */
export function sectionsOf(markdown) {
  const [before, ...sections] = markdown.split(/^## /m);
  return [{ title: "", text: before }, ...sections.map((section) => ({ title: section.slice(0, section.indexOf("\n")).trim(), text: section.slice(section.indexOf("\n") + 1) }))];
}

/** Links to a file of the documentation have its name as text; on a page, they have its title. */
export function withTitles(markdown, folder) {
  return markdown.replaceAll(/\[([A-Z-]+\.md)\]\(/g, (link, file) => {
    const path = posix.join(folder, file);
    return existsSync(path) ? `[*${/^# (.*)$/m.exec(readFileSync(path, "utf8"))[1]}*](` : link;
  });
}

/** The address of a link from a file in docs/, given the addresses of the files. */
export function resolver(addresses) {
  return (href) => {
    const [path, fragment] = href.split("#");
    const file = posix.normalize(posix.join("docs", path));
    const address = addresses.get(fragment ? `${file}#${fragment}` : file) ?? addresses.get(file);
    if (address === undefined) return undefined;
    return fragment && !address.includes("#") ? `${address}#${fragment}` : address;
  };
}
