// Describes for the log what a tool has thrown.

/** How many errors are described: causes, and those of an AggregateError. */
const MOST = 10;
/** The longest description, in characters. */
const LONGEST = 16_384;

/**
 * A text about what was thrown. The text of an error may contain input, so only a developer sees it; others see names, and where errors were
 * created. It does not throw, whatever `thrown` does when it is read.
 */
export function described(thrown, isDeveloper) {
  const seen = new Set();
  const describe = isDeveloper ? shown : named;
  const describeAll = (value, title) => {
    if (seen.size === MOST || seen.has(value)) return [];
    seen.add(value);
    const more = value instanceof Error ? [...others(value)] : [];
    return [`${title}${describe(value)}`, ...more.flatMap(([kind, other]) => describeAll(other, `[${kind}] `))];
  };
  return readable(() => describeAll(thrown, "").join("\n").slice(0, LONGEST)) ?? "a value that cannot be read was thrown";
}

/** The errors that an error names: `cause`, and `errors` of an AggregateError. */
function* others(error) {
  if (error.cause !== undefined) yield ["cause", error.cause];
  if (Array.isArray(error.errors)) for (const other of error.errors.slice(0, MOST)) yield ["error", other];
}

/** Everything about it: the stack, and the other members, such as the code of an error of Node or of a database. */
function shown(value) {
  if (!(value instanceof Error)) return `${kindOf(value)} was thrown: ${text(value)}`;
  const { cause, errors, stack, message, ...members } = value;
  const own = Object.keys(members).length > 0 ? ` ${text(members)}` : "";
  return `${ofTool(`${stack ?? value}`)}${own}`;
}

/** What contains no text of the author: the name of an error and its frames, or the type of another value. */
function named(value) {
  if (!(value instanceof Error)) return `${kindOf(value)} was thrown`;
  const frames = ofTool(`${value.stack}`).replace(`${value.message}`, "").split("\n").filter((line) => /^\s+at /.test(line));
  const name = /^\w{1,40}$/.test(value.name) ? value.name : "Error";
  return [name, ...frames].join("\n");
}

const kindOf = (value) => `a value of type ${typeof value}`;

/** A value as JSON, if it has one. */
function text(value) {
  const json = readable(() => JSON.stringify(value, (_, member) => (typeof member === "bigint" ? `${member}n` : member)));
  return json === undefined ? readable(() => String(value)) : json;
}

function readable(read) {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** A stack without the frames of the server that called the tool, or loaded its module. */
function ofTool(stack) {
  const lines = stack.split("\n");
  const end = lines.findIndex((line) => /^\s+at .*\b(?:toolbooth(?:Run|Wait|Report)|__init)\b/.test(line));
  return end === -1 ? stack : lines.slice(0, end).join("\n");
}
