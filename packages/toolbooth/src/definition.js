// The definition that `toolbooth tool` writes for a tool with a function.

/** The version of a new tool. */
export const VERSION = "0.1.0";

/** The first sentence of a description, as the doc of the function. */
export const summary = (description) => /^.*?[.!?](?= |$)|^.*/.exec(description)[0];

/** The text of the definition of a new tool. `binding`: of the database that it uses. */
export function definitionOf({ toolkit, tool, description, isReadOnly, scopes, isHttp, binding, secret, variable }) {
  const [parameter, schema, input] = isHttp
    ? ["id", `"maxLength": 100, "description": "The id of the item."`, "7"]
    : ["text", `"maxLength": 1000, "description": "A text."`, "Ada"];
  const output = isHttp
    ? `{
    "type": "object",
    "properties": { "name": { "type": "string", "description": "The name of the item." } },
    "required": ["name"],
    "additionalProperties": false
  }`
    : binding
      ? `{ "type": "integer", "minimum": 1, "description": "The number of the item." }`
      : `{ "type": "string", "description": "The same text." }`;
  const example = `"input": { "${parameter}": "${input}" }, "value": ${isHttp ? `{ "name": "Ada" }` : `"Ada"`}`;
  // Examples of tools that only read begin with an empty table.
  const stored = isReadOnly
    ? `"input": { "text": "Ada" }, "error": { "message": "There is no such item" }`
    : `"setup": [{ "tool": "${toolkit}.${tool}", "input": { "text": "Ada" } }], "input": { "text": "Bob" }, "value": 2`;
  const list = (names) => JSON.stringify(names).replaceAll(",", ", ");
  const members = [
    ...(scopes.length > 0 ? [`  "scopes": ${list(scopes)},\n`] : []),
    ...(binding ? [`  "bindings": [{ "name": "${binding}", "kind": "d1" }],\n`] : []),
    ...(isHttp ? [`  "variables": ${list(secret ? [variable, secret] : [variable])},\n`] : []),
  ];
  return `{
  "id": "${toolkit}.${tool}@${VERSION}",
  "name": "${toolkit}_${tool}",
  "description": ${JSON.stringify(description)},
  "version": "${VERSION}",
  "input_schema": {
    "type": "object",
    "properties": {
      "${parameter}": { "type": "string", "minLength": 1, ${schema} }
    },
    "required": ["${parameter}"],
    "additionalProperties": false
  },
  "output_schema": ${output},
${members.join("")}  "annotations": { "read_only": ${isReadOnly}, "destructive": ${!isReadOnly}, "idempotent": ${isReadOnly}, "open_world": true },
  "examples": [{ ${binding ? stored : example} }]
}
`;
}
