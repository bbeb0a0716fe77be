// Descriptions for models.

/** The limit of the strictest providers of models, which is also the default of the build. */
export const MAX_DESCRIPTION = 1024;
/** The tags of HTML that descriptions of APIs have. */
const TAGS = /<\/?(?:a|b|br|code|div|em|h[1-6]|hr|i|li|ol|p|pre|span|strong|table|tbody|td|th|thead|tr|ul)(?:\s[^<>]*)?\/?>/gi;

/** A description without tags and control characters. */
export function clean(text) {
  if (typeof text !== "string") return "";
  return text
    .replace(TAGS, (tag) => (/^<\/?(?:p|br|li|h\d|div|tr)/i.test(tag) ? "\n" : ""))
    .replace(/\r\n?/g, "\n")
    .replace(/[\p{Cc}\u2028\u2029]/gu, (one) => (one === "\n" ? one : " "))
    .replace(/[ \t]+\n/g, "\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

/** At most `max` characters of a text, up to the end of a sentence or of a word. */
export function shorten(text, max = MAX_DESCRIPTION) {
  const characters = [...text];
  if (characters.length <= max) return text;
  const start = characters.slice(0, max - 2).join("");
  const sentence = /^[\s\S]*[.!?](?=\s)/.exec(start)?.[0];
  if (sentence !== undefined && sentence.length > start.length / 2) return `${sentence} …`;
  return `${start.replace(/\s+\S*$/, "")} …`;
}

/** Texts as one, each in a sentence of its own. */
export const joined = (...texts) => texts.filter(Boolean).map((text, at, all) => (at < all.length - 1 ? sentence(text) : text)).join(" ");

/** A text with a full stop, unless it ends with a sign of its own. A pattern stays as it is. */
export const sentence = (text) => (text === "" || /[.!?:;…。！？]["'”’)\]*_`]*$/.test(text) || /(?:^|[.\s])Pattern: \S+$/.test(text) ? text : `${text}.`);
