// The subset of JSON Schema that each provider accepts in a tool declaration, as far as it is documented: each has its sources.
// Each rule applies to every nested schema.
import assert from "node:assert/strict";

const set = (text) => new Set(text.trim().split(/\s+/));
const types = ({ type }) => [type ?? []].flat();
const scalar = (value) => value === null || typeof value !== "object";

const ONE = set("items additionalProperties not if then else contains propertyNames unevaluatedItems unevaluatedProperties contentSchema");
const LIST = set("anyOf oneOf allOf prefixItems");
const MAP = set("properties patternProperties dependentSchemas $defs definitions");
const FORMATS = set("date-time time date duration email hostname ipv4 ipv6 uuid");

/** A schema and every nested schema, each with its path and level. */
function* parts(schema, place = "#", level = 1) {
  if (typeof schema === "boolean") return;
  yield { schema, place, level };
  for (const [keyword, value] of Object.entries(schema)) {
    const at = `${place}/${keyword}`;
    if (ONE.has(keyword)) yield* parts(value, at, level + 1);
    if (LIST.has(keyword) || MAP.has(keyword)) {
      for (const [key, inner] of Object.entries(value)) yield* parts(inner, `${at}/${key}`, level + 1);
    }
  }
}

const closed = ({ schema, place }) => {
  if (!types(schema).includes("object")) return;
  assert.equal(schema.additionalProperties, false, `${place}: additionalProperties must be false`);
};
const typed = ({ schema, place }) =>
  assert.ok(["type", "anyOf", "allOf", "$ref"].some((keyword) => keyword in schema), `${place}: a schema must have a type`);
const local = ({ schema: { $ref = "#" }, place }) => assert.ok($ref.startsWith("#"), `${place}: $ref must be local`);
// As Google's types have it. Its 400 (anomalyco/opencode#12295, 2026-02) says that a description and a default may be there too.
const alone = ({ schema, place }) => {
  const beside = Object.keys(schema).filter((keyword) => !keyword.startsWith("$"));
  assert.ok(!("$ref" in schema) || beside.length === 0, `${place}: $ref was set alongside unsupported fields`);
};
const formats = (known) => ({ schema: { format }, place }) =>
  assert.ok(format === undefined || known.has(format), `${place}: format '${format}' is not supported`);
const itemized = ({ schema, place }) => assert.ok("items" in schema || !types(schema).includes("array"), `${place}: array schema missing items`);
const complete = ({ schema, place }) => assert.ok("properties" in schema || !types(schema).includes("object"), `${place}: object schema missing properties`);
const oneType = ({ schema: { type }, place }) => assert.equal(typeof (type ?? ""), "string", `${place}: type must be one name`);
const values = (fit) => ({ schema, place }) => {
  const listed = [...(schema.enum ?? []), ...("const" in schema ? [schema.const] : [])];
  assert.ok(listed.every(fit), `${place}: enum has a value that is not supported`);
};

// The keywords of `parametersJsonSchema` and `responseJsonSchema`.
const GEMINI = set(`type properties required additionalProperties items prefixItems enum anyOf oneOf $ref $defs $id $anchor
  format minimum maximum minItems maxItems title description propertyOrdering`);
const GEMINI_TYPES = "types of npm @google/genai 3.1.0, GenerateContentConfig.responseJsonSchema and FunctionDeclaration.parametersJsonSchema";

/** `keywords`: the allowed ones, all if absent. `root`: those that are not allowed at the root. `isAny`: the root may have any type. */
export const SUBSETS = {
  openai: { source: ["modelscope/ms-agent#610", "nspady/google-calendar-mcp#39", "langchain-ai/langchainjs#9804"], root: set("oneOf anyOf allOf not enum const $ref"), rules: [itemized, (part) => part.level > 1 || complete(part)] },
  "openai strict": {
    source: ["https://developers.openai.com/api/docs/guides/structured-outputs", "makenotion/notion-mcp-server#102"],
    keywords: set(`type properties required additionalProperties items enum const anyOf $ref $defs pattern format minimum
      maximum multipleOf exclusiveMinimum exclusiveMaximum minLength maxLength minItems maxItems default title description examples`),
    root: set("anyOf $ref"),
    rules: [
      itemized,
      complete,
      closed,
      typed,
      local,
      formats(FORMATS),
      ({ schema: { properties = {}, required = [] }, place }) =>
        assert.deepEqual([...required].sort(), Object.keys(properties).sort(), `${place}: required must name every property`),
      ({ level, place }) => assert.ok(level <= 10, `${place}: more than 10 levels`),
    ],
  },
  anthropic: { source: ["anthropics/claude-code#27337", "anomalyco/opencode#35516"], root: set("oneOf anyOf allOf"), rules: [] },
  "anthropic strict": {
    source: ["https://platform.claude.com/docs/en/build-with-claude/structured-outputs"],
    keywords: set(`type properties required additionalProperties items enum const anyOf allOf $ref $defs pattern format
      minItems default title description examples`),
    root: set("anyOf allOf $ref"),
    rules: [
      closed,
      local,
      formats(new Set([...FORMATS, "uri"])),
      values(scalar),
      ({ schema: { $ref }, place }) => assert.ok(!$ref || !`${place}/`.startsWith(`${$ref}/`), `${place}: $ref must not be recursive`),
      ({ schema: { minItems = 0 }, place }) => assert.ok(minItems <= 1, `${place}: minItems must be 0 or 1`),
    ],
  },
  gemini: {
    source: [GEMINI_TYPES, "router-for-me/CLIProxyAPI#4393", "nodetool-ai/nodetool#4388"],
    keywords: GEMINI,
    root: set("$ref"),
    rules: [local, values((value) => ["string", "number"].includes(typeof value)), alone],
  },
  // Of answers, whose root may be anything.
  "gemini answer": {
    source: [GEMINI_TYPES],
    isAny: true,
    keywords: GEMINI,
    root: new Set(),
    rules: [local, values((value) => ["string", "number"].includes(typeof value)), alone],
  },
  // The older member `parameters`, which uses OpenAPI's schemas.
  "gemini parameters": {
    source: ["discovery document of Gemini v1beta, Schema", "zed-industries/zed#53919", "zed-industries/zed#44875"],
    keywords: set(`type properties required items enum anyOf format pattern minimum maximum minLength maxLength minItems
      maxItems minProperties maxProperties nullable title description default example propertyOrdering`),
    root: new Set(),
    rules: [oneType, values((value) => typeof value === "string")],
  },
};

/** Throws if a provider would reject the schema of a tool's input. */
export function taken({ keywords, root, rules, isAny = false }, schema) {
  assert.ok(isAny || schema?.type === "object", "a schema must be that of an object");
  for (const part of parts(schema)) {
    for (const keyword of Object.keys(part.schema)) {
      assert.ok(!keywords || keywords.has(keyword), `${part.place}: '${keyword}' is not permitted`);
      assert.ok(part.level > 1 || !root.has(keyword), `${keyword} at the root`);
    }
    for (const rule of rules) rule(part);
  }
}

/** The sums that Anthropic limits over all strict tools of a request. */
export function sums(schemas) {
  let [optional, unions] = [0, 0];
  for (const { schema } of schemas.flatMap((schema) => [...parts(schema)])) {
    const { properties = {}, required = [] } = schema;
    optional += Object.keys(properties).length - required.length;
    unions += (types(schema).length > 1 ? 1 : 0) + ("anyOf" in schema ? 1 : 0);
  }
  return { optional, unions };
}
