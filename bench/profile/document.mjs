// docs/PROFILE.md.
import { STAGES } from "./stages.mjs";

const whole = (number) => number.toLocaleString("en");
const table = (head, rows) =>
  [head, head.map((_, at) => (at === 0 ? "---" : "---:")), ...rows]
    .map((row) => `| ${row.join(" | ")} |`)
    .join("\n");

/** Writes the document from `{ title, bytes, root, stages, whole, inside }` of each call. */
export function document(results) {
  const stages = results.map(({ stages }) => stages);
  const sum = (stages, figure) => Object.values(stages).reduce((sum, stage) => sum + stage[figure], 0);
  const head = ["", ...results.map(({ title }) => title)];
  const byRow = (figure) => [
    ...STAGES.map(({ name, title }) => [title, ...stages.map((stages) => whole(stages[name][figure]))]),
    ["**all**", ...stages.map((stages) => `**${whole(sum(stages, figure))}**`)],
  ];
  const rest = [
    ["bytes of the body", results.map(({ bytes }) => bytes)],
    ["bytes allocated", stages.map((stages) => sum(stages, "allocated"))],
    ["bytes copied at once", stages.map((stages) => sum(stages, "copied"))],
    ["calls of functions", results.map(({ root }) => count(root) - 1)],
    ["calls into JS", stages.map((stages) => sum(stages, "crossings"))],
  ].map(([title, figures]) => [title, ...figures.map(whole)]);
  const time = [
    ["the whole of `fetch`", ({ whole }) => whole],
    ["WebAssembly", ({ inside }) => inside],
    ["JS around it, and what it asks of JS", ({ whole, inside }) => whole - inside],
  ].map(([title, figure]) => [title, ...results.map((result) => figure(result).toFixed(1))]);

  return `# Profile

Where one call's work goes. Written by \`make profile\`.

- The WebAssembly is that which is deployed, byte for byte, but for the names of its functions, which stay. Each stretch
  of it without a jump is made to add its length to a counter, and each function to note the counter where it begins
  and ends (\`bench/profile/\`). So instructions and allocations are counted, not sampled: every run on the same source
  has the same figures, and each call was seen twice in this one.
- A call is taken apart after others have been answered; what is made once is not in it. "2 KB order" is the realistic
  call of \`make bench\`: nested input, thirty properties. The others are Calculator.Add: over OXP, there also by callers
  with an API key or a token and with an input that the schema refuses, over MCP 2026-07-28, and over Gemini's function
  calling.
- What a stage calls counts to it, and what the compiler inlined counts where it was inlined to: the futures of the booth
  are one function, so \`routing\` also holds what goes on between the steps. An instruction that copies memory counts as
  one, and engines make fewer or more of one instruction: these are counts of work, and no times.
- The runtime is Node with plain objects in the place of \`Headers\`, \`Request\` and \`Response\`: what workerd does for a
  request, most of its cost, is not here; [bench/RESULTS.md](../bench/RESULTS.md) has it.

## Instructions by stage

${table(head, byRow("instructions"))}

${STAGES.map(({ title, what }) => `- \`${title}\`: ${what}`).join("\n")}

## Allocations by stage

${table(head, byRow("allocations"))}

## What else was counted

${table(head, rest)}

## Time, in µs

${table(head, time)}

The least of 600 batches of 100 calls, JS's own optimizing done; these figures are this machine's. In the second row
looks at the clock, whose cost was taken off, say when WebAssembly runs.

## Functions with the most instructions of their own

${results.map(({ title, root }) => `${title}:\n\n${table(["Function", "calls", "instructions"], top(root))}`).join("\n\n")}
`;
}

function count({ children }) {
  return children.reduce((sum, child) => sum + count(child), 1);
}

const SHOWN = 8;
const LONGEST = 90;

function top(root) {
  const functions = new Map();
  const walk = ({ name, self, children }) => {
    const row = functions.get(name) ?? { calls: 0, self: 0 };
    functions.set(name, { calls: row.calls + 1, self: row.self + self });
    children.forEach(walk);
  };
  walk(root);
  return [...functions]
    .sort(([, one], [, other]) => other.self - one.self)
    .slice(0, SHOWN)
    .map(([name, { calls, self }]) => [`\`${name.slice(0, LONGEST)}\``, whole(calls), whole(self)]);
}
