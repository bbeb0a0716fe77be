// The documentation: one page for each file of docs/, and one for each protocol.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { escape, layout } from "./layout.js";
import { render, resolver, sectionsOf, slug, withTitles } from "./markdown.js";

const GROUPS = [
  { title: "Use", files: ["CLIENTS", "REST", "GATEWAY", "PROVIDERS"] },
  { title: "Build", files: ["TUTORIAL", "TUTORIAL-2", "TUTORIAL-TYPESCRIPT", "PROJECT", "TOOLS", "TOOLKITS", "IMPORT", "JSON", "SIZE", "ARCHITECTURE"] },
  { title: "Run", files: ["CONFIGURATION", "SECURITY", "OPERATING", "SIGN-IN", "AUTHORIZATION-SERVER", "THREATS", "LOGGING", "STORAGE", "SCALE", "SITE"] },
  { title: "Protocols", files: ["PROTOCOLS"] },
];
const README = { file: "README.md", address: "/" };

/** The pages: `{ address, title, group, markdown, file }`. */
export function pagesOf(folder) {
  const listed = GROUPS.flatMap(({ files }) => files);
  const others = readdirSync(folder).filter((name) => name.endsWith(".md")).map((name) => name.slice(0, -3)).filter((name) => !listed.includes(name));
  return [...GROUPS, ...(others.length > 0 ? [{ title: "More", files: others }] : [])].flatMap(({ title: group, files }) => files.flatMap((name) => {
    const markdown = withTitles(readFileSync(join(folder, `${name}.md`), "utf8"), folder);
    const page = { address: `/docs/${name.toLowerCase()}`, title: /^# (.*)$/m.exec(markdown)[1], group, file: `docs/${name}.md` };
    return name === "PROTOCOLS" ? protocols(page, markdown) : [{ ...page, markdown }];
  }));
}

/** A page for each protocol, after one that introduces them. */
function protocols(page, markdown) {
  const [introduction, ...sections] = sectionsOf(markdown);
  const pages = sections.map(({ title, text }) => ({
    ...page,
    address: `${page.address}/${slug(title)}`,
    title,
    // The headings move up with the page.
    markdown: `# ${title}\n${text.replaceAll(/^##(#+) /gm, "#$1 ")}`,
  }));
  const links = pages.map(({ title, address }) => `- [${title}](${address})`).join("\n");
  return [{ ...page, title: "All protocols", markdown: `${introduction.text}\n${links}\n` }, ...pages];
}

/** The addresses of files and of the headings of those that are more than one page. */
function addressesOf(pages) {
  const addresses = new Map([[README.file, README.address]]);
  for (const { file, address, markdown, title } of pages) {
    if (!addresses.has(file)) addresses.set(file, address);
    addresses.set(address, address);
    if (file !== "docs/PROTOCOLS.md") continue;
    addresses.set(`${file}#${slug(title)}`, address);
    for (const [, heading] of markdown.matchAll(/^#+ (.*)$/gm)) addresses.set(`${file}#${slug(heading)}`, `${address}#${slug(heading)}`);
  }
  return addresses;
}

/** Returns the HTML of each page by its address. */
export function htmlOf(pages, { style, script, searchIndex }) {
  const resolve = resolver(addressesOf(pages));
  const link = (href) => (href.startsWith("/docs/") ? href : resolve(href));
  const header = `<div id="docs-search" data-index="${searchIndex}"></div>`;
  const html = new Map([["/docs", contents(pages, { style, script, header })]]);
  for (const page of pages) {
    const article = `<article class="prose">${render(page.markdown, link)}</article>`;
    const main = `<div class="docs">${article}${onThisPage(article)}<nav class="docs-nav" aria-label="Documentation">${navigation(pages, page)}</nav></div>`;
    html.set(page.address, layout({ title: `${page.title} · Toolbooth`, description: firstSentence(page.markdown), current: "/docs", main, style, script, header, wide: true }));
  }
  return html;
}

function navigation(pages, current) {
  return groups(pages).map(([group, members]) => {
    const links = members.map(({ address, title }) => `<li><a href="${address}"${address === current?.address ? ' aria-current="page"' : ""}>${escape(title)}</a></li>`);
    return `<p class="heading">${group}</p><ul>${links.join("")}</ul>`;
  }).join("");
}

/** Links to the sections of a page, for screens that have room next to the article. */
function onThisPage(article) {
  const links = [...article.matchAll(/<h2 id="([^"]+)">(.*?) <a class="anchor"/g)].map(([, id, text]) => `<li><a href="#${id}">${text.replaceAll(/<\/?a\b[^>]*>/g, "")}</a></li>`);
  return links.length < 3 ? "" : `<nav class="on-this-page" aria-label="On this page"><p class="heading">On this page</p><ul>${links.join("")}</ul></nav>`;
}

const groups = (pages) => [...new Set(pages.map(({ group }) => group))].map((group) => [group, pages.filter((page) => page.group === group)]);

function contents(pages, shared) {
  const lists = groups(pages).map(([group, members]) => {
    const items = members.map(({ address, title, markdown }) => `<li><a href="${address}">${escape(title)}</a><p>${escape(firstSentence(markdown))}</p></li>`);
    return `<section><h2>${group}</h2><ul class="contents">${items.join("")}</ul></section>`;
  });
  const main = `<h1>Documentation</h1><div class="contents-groups">${lists.join("")}</div>`;
  return layout({ title: "Documentation · Toolbooth", description: "How to use, build and run a Toolbooth server.", current: "/docs", main, wide: true, ...shared });
}

const plain = (markdown) => markdown.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll(/[`*|]/g, "").replaceAll(/\s+/g, " ").trim();

function firstSentence(markdown) {
  const paragraph = markdown.split(/\n\n+/).map((one) => one.replace(/^# .*\n?/, "").trim()).find((one) => /^(?!```)[A-Z\d`*[]/.test(one)) ?? "";
  return /^.{20,}?[.:](?=\s|$)/.exec(plain(paragraph))?.[0].replace(/:$/, ".") ?? plain(paragraph);
}

/** What the search finds: each section of the pages with its text. */
export const searchIndexOf = (pages) => pages.flatMap(searchable).map((section, id) => ({ id, ...section }));

function searchable({ address, title: page, markdown }) {
  const parts = readable(markdown).split(/^#{1,4} /m).slice(1);
  return parts.map((part, index) => {
    const title = part.slice(0, part.indexOf("\n")).trim();
    return { at: index === 0 ? address : `${address}#${slug(plain(title))}`, page, title: plain(title), text: plain(part.slice(part.indexOf("\n") + 1)) };
  });
}

/** The cells of a row of a table. Excerpts join the rows to one line. */
const sentenceOf = (cells) => cells.join(" · ").replace(/(?<![.!?:])$/, ".");

/** Markdown without what only structures it: fences, comments, the heads and cells of tables, and the marks of lists. */
const readable = (markdown) =>
  markdown
    .replaceAll(/^```\w*$/gm, "")
    .replaceAll(/<!--.*?-->/gs, "")
    .replaceAll(/^\|.*\|\n\|[-:| ]+\|$/gm, "")
    .replaceAll(/^\|(.*)\|$/gm, (_, row) => sentenceOf(row.split(/(?<!\\)\|/).map((cell) => cell.trim()).filter(Boolean)))
    .replaceAll(/^ *(?:-|\d+\.) +/gm, "");
