// Makes texts that a pattern accepts, and says which patterns are safe to run here: the expressions of JavaScript go back and try again, so one
// of a document could take forever. The Worker has an engine that does not.
import { RegExpParser, visitRegExpAST } from "@eslint-community/regexpp";

/** The longest text that is made. */
const MAX_TEXT = 5000;
/** Characters that are tried for a class, the plainest first. */
const CHARACTERS = ["a", "A", "1", "0", "-", "_", ".", " ", "/", ":", ...Array.from({ length: 95 }, (_, at) => String.fromCodePoint(32 + at)), "é", "中", "\n", "\t"];
/** How often what may be repeated is repeated beyond the least, until a text is long enough. */
const MORE = [0, 1, 2, 5, 10, 20, 50, 100, 500, 1000];

/** The most parts of a pattern that may repeat, if it is safe to run. */
const MAX_REPEATED = 2;
/** The most repetitions that count as few. */
const FEW = 10;

function parsed(pattern) {
  try {
    return new RegExpParser().parsePattern(pattern, 0, pattern.length, { unicode: true });
  } catch {
    return undefined;
  }
}

/** Whether a pattern takes little time with any text of a thousand characters. */
export function isSafe(pattern) {
  const tree = parsed(pattern);
  if (tree === undefined) return false;
  let within = 0;
  let repeated = 0;
  let isNested = false;
  visitRegExpAST(tree, {
    onQuantifierEnter(node) {
      if (within > 0 && node.max > node.min) isNested = true;
      if (node.max > node.min && node.max > FEW) repeated += 1;
      if (node.max > 1) within += 1;
    },
    onQuantifierLeave(node) {
      if (node.max > 1) within -= 1;
    },
    onAlternativeEnter(node) {
      if (within > 0 && node.parent.alternatives.length > 1) isNested = true;
    },
  });
  return !isNested && repeated <= MAX_REPEATED;
}

/** Texts for a pattern, the shortest first; none for one that is not valid. */
export function* textsOf(pattern) {
  for (const more of MORE) {
    for (const alternative of parsed(pattern)?.alternatives ?? []) {
      const text = written(alternative, more);
      if (text.length <= MAX_TEXT) yield text;
    }
  }
}

/** A text for a part of a pattern. */
function written(node, more) {
  switch (node.type) {
    case "Alternative":
      return joined(node.elements, more);
    case "Group":
    case "CapturingGroup":
      return written(node.alternatives[0], more);
    case "Quantifier":
      return repeated(written(node.element, more), node, more);
    case "Character":
      return String.fromCodePoint(node.value);
    case "CharacterSet":
    case "CharacterClass":
      return characterOf(node.raw);
    default:
      return "";
  }
}

function joined(elements, more) {
  let text = "";
  for (const element of elements) {
    if (text.length > MAX_TEXT) break;
    text += written(element, more);
  }
  return text;
}

const repeated = (text, { min, max }, more) => text.repeat(Math.min(Math.max(min, Math.min(more, max)), Math.ceil(MAX_TEXT / Math.max(text.length, 1))));

/** A character of a class such as `[^a-z]`. */
function characterOf(raw) {
  const expression = new RegExp(`^${raw}$`, "u");
  const first = /^\[([\p{L}\p{N}])/u.exec(raw)?.[1];
  return [...(first === undefined ? [] : [first]), ...CHARACTERS].find((one) => expression.test(one)) ?? "";
}
