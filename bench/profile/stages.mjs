// Which stage of a call a function belongs to. What is inlined counts where it was inlined to, and
// what is called by functions of a stage counts to that stage, unless it has one of its own.

export const STAGES = [
  { name: "in", title: "crossing in", what: "method, address and body into WebAssembly, the address taken apart" },
  { name: "asked", title: "asked of JS", what: "headers, bindings, clock and random bytes, one crossing each" },
  { name: "booth", title: "routing", what: "protocol and endpoint, the content type, the rate limit's question, the order of all the rest" },
  { name: "auth", title: "auth", what: "who calls" },
  { name: "decode", title: "decode", what: "the body's JSON into values" },
  { name: "read", title: "read", what: "values into calls, by the protocol" },
  { name: "find", title: "find", what: "the tool, and whether it may be called" },
  { name: "validate", title: "validate", what: "input and output against their schemas; what is wrong in words" },
  { name: "run", title: "run", what: "the tool, with its input read and its value made" },
  { name: "encode", title: "encode", what: "the answer's values and JSON, by the protocol" },
  { name: "out", title: "crossing out", what: "status, headers and body to JS" },
];

/** The stage that a function begins, by its name; `within` says of which stages it may be a part. */
const RULES = [
  [/JsHeaders as .*Headers>::get$|^<toolbooth_worker::host::Bindings as /, "asked"],
  [/^toolbooth_worker::boundary::answer::\{\{closure\}\}/, "booth", ["in"]],
  [/^toolbooth_worker::boundary::path_and_query/, "in", ["booth"]],
  [/^toolbooth_worker::boundary::into_js|drop_in_place<toolbooth::http::Outbound>/, "out", ["in", "booth"]],
  [/^toolbooth::auth::Access::authenticate/, "auth", ["booth"]],
  [/^toolbooth::json::parse$/, "decode", ["booth", "read"]],
  [/^toolbooth::dialect::(route|no_version|unsigned)|^toolbooth::http::/, "booth", ["booth"]],
  [/^toolbooth::dialect::.*::(sign|refuse)$/, "encode", ["booth", "read"]],
  [/^toolbooth::dialect::/, "read", ["booth"]],
  [/^toolbooth::call::serve::find|^toolbooth::config::Config::permission|^toolbooth::auth::scopes::/, "find", ["booth"]],
  [/^toolbooth::call::input::check|^toolbooth::schema::/, "validate", ["booth", "read", "run"]],
  [/^toolbooth::call::serve::Prepared::run|^toolbooth::catalog::tool::run/, "run", ["booth", "read"]],
  // What a dialect gives the booth to write the answer by; what it reads by is a plain function.
  [/FnOnce::call_once\{\{vtable\.shim\}\}/, "encode", ["booth"]],
  [/FnOnce::call_once$/, "read", ["booth"]],
];

function stageOf(name, current) {
  const rule = RULES.find(([pattern, , within]) => pattern.test(name) && (!within || within.includes(current)));
  return rule?.[1] ?? current;
}

/** What a call costs by stages: `{ stage: { instructions, allocations, allocated, copied, crossings } }`. */
export function byStage(root) {
  const none = () => ({ instructions: 0, allocations: 0, allocated: 0, copied: 0, crossings: 0 });
  const sums = Object.fromEntries(STAGES.map(({ name }) => [name, none()]));
  const walk = (node, current) => {
    const stage = stageOf(node.name, current);
    const sum = sums[stage];
    sum.instructions += node.self;
    sum.copied += node.copied;
    if (node.allocated !== undefined) {
      sum.allocations += 1;
      sum.allocated += node.allocated;
    }
    if (node.imported) sum.crossings += 1;
    for (const child of node.children) walk(child, stage);
  };
  walk(root, "in");
  return sums;
}

/** The stages in which no call does anything: their functions have other names than they had. */
export function unseen(calls) {
  return STAGES.filter(({ name }) => calls.every((stages) => stages[name].instructions === 0)).map(({ title }) => title);
}
