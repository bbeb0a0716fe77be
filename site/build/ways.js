// Marks what a client's instructions say about each way to authenticate. The first page shows those of its server's AUTH: with a
// key, with sign-in, by an `issuer` of the operator's own, or `open`, without credentials.
import { lexer } from "marked";

/** How a paragraph begins that only applies to one way; what follows it does too, up to the next one. */
const STARTS = [
  [/^With sign-in\b/, "sign-in"],
  [/^With (a key|the request headers beta)\b/, "key"],
  [/^With an issuer of your own\b/, "issuer"],
];
const HAS_KEY = /TOOLBOOTH_KEY|Bearer|toolbooth-key/;
/** How code sends a key, and what precedes it for that alone. */
const KEYS = [
  / --header "Authorization: Bearer \$\{TOOLBOOTH_KEY\}"/g,
  /\n *headers: \{Authorization: "Bearer [^\n]*/g,
  /authorization: `Bearer \$\{process\.env\.TOOLBOOTH_KEY\}`, /g,
  /\n *headers=\{"authorization": f"Bearer [^\n]*/g,
  /^import os\n/gm,
];

export const wayMark = (way) => (way === undefined ? "" : ` data-way="${way}"`);

function withoutKey(code) {
  const open = KEYS.reduce((text, pattern) => text.replaceAll(pattern, ""), code);
  if (HAS_KEY.test(open)) throw new Error(`How does this code send its key? ${code}`);
  return open;
}

/** Renders instructions part by part. `way` is `key open` if they are only for those; otherwise undefined. */
export function byWay(markdown, render) {
  const runs = [];
  for (const token of lexer(markdown)) {
    const start = token.type === "paragraph" ? STARTS.find(([pattern]) => pattern.test(token.text)) : undefined;
    if (start || runs.length === 0) runs.push({ way: start?.[1], isNamed: start !== undefined, tokens: [] });
    runs.at(-1).tokens.push(token);
  }
  const parts = runs.flatMap(({ way, isNamed, tokens }) => {
    const hasKey = ({ raw }) => HAS_KEY.test(raw);
    // Instructions that name no way, and send a key: without it, their code is for open servers.
    const isForPrograms = !isNamed && tokens.some(hasKey);
    return tokens.filter(({ type }) => type !== "space").flatMap((token) => {
      const { raw } = token;
      const isCode = token.type === "code";
      if (!isForPrograms) return [{ way: way === "sign-in" && isCode ? "sign-in open" : way, raw }];
      if (!hasKey(token)) return [{ way: "key open", raw }];
      return [{ way: "key", raw }, ...(isCode ? [{ way: "open", raw: withoutKey(raw) }] : [])];
    });
  });
  const forPrograms = ["key", "open", "key open"];
  const html = parts.map(({ way, raw }) => (way === undefined ? render(raw) : `<div${wayMark(way)}>${render(raw)}</div>`)).join("");
  return { html, way: parts.every(({ way }) => forPrograms.includes(way)) ? "key open" : undefined };
}
