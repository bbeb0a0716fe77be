// Prints what an import did, what it left out and why, and what is left to configure.
import { PRESETS } from "../presets.js";
import { LARGE, sizeOf } from "./slim.js";

/** How many places or names a list shows, unless all are to be shown. */
const MAX_SHOWN = 10;

/** Prints the report of an import. */
export function report({ catalogue, changes, files, toolkit, isDryRun, verbose }) {
  const print = (line) => console.log(clean(line));
  const shown = (list, show, more = "--verbose lists all") => {
    const limit = verbose ? list.length : MAX_SHOWN;
    for (const one of list.slice(0, limit)) print(`  ${show(one)}`);
    if (list.length > limit) print(`  and ${list.length - limit} more; ${more}`);
  };
  const section = (kind, heading, show) => {
    const list = changes.filter((change) => change.kind === kind);
    if (list.length === 0) return;
    print(`${heading(list.length)}:`);
    shown(list, show);
  };
  section("added", (count) => `${isDryRun ? "Would add" : "Added"} ${tools(count)} to ${files.folder}`, ({ tool, version }) => `${toolkit}.${tool}@${version}`);
  section("changed", (count) => `${isDryRun ? "Would change" : "Changed"} ${tools(count)}`, ({ tool, before, version, places }) => `${toolkit}.${tool} ${before} → ${version}: ${some(places)}`);
  const moved = changes.filter((change) => change.moved);
  if (moved.length > 0) print("Kept the names and your edits of operations that the document has elsewhere now:");
  shown(moved, ({ tool, moved: { from, to } }) => `${toolkit}.${tool}: ${from} is ${to}`);
  section("gone", (count) => `The document no longer has ${operations(count)}; delete the file if the service does not have it either`, ({ tool, version }) => files.path(tool, version));
  section("deleted", (count) => `Left out ${tools(count)} whose files were deleted; to import them again, delete their lines in import.json`, ({ tool }) => tool);
  section("foreign", (count) => `Kept the files of ${tools(count)}, which no import has written`, ({ tool }) => tool);
  const conflicts = changes.flatMap(({ tool, conflicts: places = [] }) => places.map((place) => `${toolkit}.${tool}: ${place}`));
  if (conflicts.length > 0) {
    print("Kept your edits of members that the document changes too; compare them with import.json:");
    shown(conflicts, (line) => line);
  }
  for (const item of catalogue.unknown) print(`--include: no tag, operationId or path of the document is ${JSON.stringify(item)}`);
  if (catalogue.left.length > 0) {
    print(`Left out ${operations(catalogue.left.length)}:`);
    // Each of these is a tool that is missing, so all are named.
    for (const { operation, place, reason } of catalogue.left) print(`  ${operation}: ${reason} (${place})`);
  }
  for (const [reason, places] of catalogue.notes.list()) {
    print(`Simplified ${places.length === 1 ? "1 place" : `${places.length} places`}: ${reason}`);
    shown(places, (place) => place);
  }
  const large = [...catalogue.tools].map(([tool, { definition }]) => [tool, sizeOf(definition)]).filter(([, size]) => size > LARGE).sort(([, one], [, other]) => other - one);
  if (large.length > 0) {
    print(`${large.length === 1 ? "1 tool has" : `${large.length} tools have`} more than ${LARGE.toLocaleString("en")} characters, which clients send to the model with each request; ${catalogue.isSlim ? "--include fewer" : "--slim shortens them"}:`);
    shown(large, ([tool, size]) => `${toolkit}.${tool}: ${size.toLocaleString("en")}`);
  }
  const unchanged = changes.filter(({ kind }) => kind === "unchanged").length;
  print(`${isDryRun ? "Would import" : "Imported"} ${catalogue.tools.size} of ${operations(catalogue.found)}${unchanged > 0 ? `, ${unchanged} of them without a change` : ""}.`);
  if (catalogue.tools.size > 0) configuration(catalogue, print);
}

const tools = (count) => (count === 1 ? "1 tool" : `${count} tools`);
const operations = (count) => (count === 1 ? "1 operation" : `${count} operations`);
const some = (places) => (places.length > 5 ? `${places.slice(0, 5).join(", ")} and ${places.length - 5} more` : places.join(", "));

/** Text of a document in a terminal: it may have no escape sequences. */
const clean = (text) => text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, " ");

/** Prints what the tools need before they can be called. */
function configuration({ servers, credentials }, print) {
  const lines = [];
  for (const [name, { default: address }] of servers.variables) if (!address) lines.push(`${name}: the address of the service`);
  for (const [name, { kind, default: address, optional }] of credentials.variables) {
    const when = optional ? ", if the service has given you one" : "";
    if (kind === "secret") lines.push(`${name}: a secret${when}; npx wrangler secret put ${name}`);
    else if (kind === "text") lines.push(`${name}: a name${when}`);
    else if (!address) lines.push(`${name}: the address of the token endpoint`);
  }
  for (const [id, { authorizeUrl, tokenUrl, issuer, scopes }] of credentials.providers) {
    const prefix = `OAUTH_${id.toUpperCase().replaceAll("-", "_")}`;
    lines.push(`OAUTH_PROVIDERS: add ${id}, with ${prefix}_CLIENT_ID and ${prefix}_CLIENT_SECRET of a client that you register there`);
    if (!Object.hasOwn(PRESETS, id)) {
      if (issuer) lines.push(`${prefix}_ISSUER=${issuer}`);
      else lines.push(`${prefix}_AUTHORIZE_URL=${authorizeUrl ?? "…"}`, `${prefix}_TOKEN_URL=${tokenUrl ?? "…"}`);
    }
    if (scopes.size > 0) lines.push(`Scopes that its users grant: ${some([...scopes])}`);
  }
  if (lines.length === 0) return;
  print("Left to configure, in .dev.vars, and in wrangler.toml or as secrets when you deploy:");
  for (const line of lines) print(`  ${line}`);
}
