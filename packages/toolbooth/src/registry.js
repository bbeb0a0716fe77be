// Describes a deployed server to MCP's registry, in server.json, and says how to publish it.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { definitions } from "./catalogue.js";
import { remarks } from "./directory.js";
import { Failure, output } from "./process.js";

const FILE = "server.json";
const SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";
const HEADER = { name: "Authorization", description: "An API key of this server", value: "Bearer {api_key}" };

/** Prints what directories would object to in the tools. */
export function check() {
  const found = remarks(definitions());
  console.log(found.length > 0 ? objections(found) : "Directories of MCP servers would object to none of the tools.");
}

const objections = (found) => `Directories of MCP servers may ask you to change:\n${found.map((line) => `  ${line}`).join("\n")}`;

/**
 * Writes server.json for the server `name`, such as com.example/tools, which is deployed at the origin `url`. Members that the
 * command does not set, such as `icons`, stay as they are in the file.
 */
export async function registry(name = "", url = "", { description } = {}) {
  const { unstable_readConfig } = await import("wrangler");
  const before = existsSync(FILE) ? parsed(readFileSync(FILE, "utf8")) : {};
  const { version, title, repository } = await ofProject();
  const { vars } = unstable_readConfig({}, { hideWarnings: true });
  const server = {
    ...before,
    $schema: SCHEMA,
    name,
    title,
    description: description ?? before.description ?? "",
    version,
    ...(repository && { repository }),
    websiteUrl: before.websiteUrl ?? url.replace(/\/$/, ""),
    remotes: [{ type: "streamable-http", url: `${url.replace(/\/$/, "")}/mcp`, ...headers(vars.AUTH) }],
  };
  const found = problems(server);
  if (found.length > 0) throw new Failure(found.join("\n"), 2);
  writeFileSync(FILE, `${JSON.stringify(server, null, 2)}\n`);
  console.log(`Wrote ${FILE}: ${name} ${version} at ${server.remotes[0].url}\n\n${publishing(name, new URL(url).hostname)}`);
  const card = Object.entries({ MCP_SERVER_NAME: name, MCP_DESCRIPTION: server.description }).filter(([variable, value]) => vars[variable] !== value);
  if (card.length > 0) console.log(`\nThe server card at ${server.remotes[0].url}/server-card says the same with these lines in wrangler.toml:\n${card.map(([variable, value]) => `  ${variable} = ${JSON.stringify(value)}`).join("\n")}`);
  const remarked = [...remarks(definitions()), ...(server.icons ? [] : [`${FILE}: icons: directories show an icon: add one, such as [{ "src": "https://…/icon.png" }]`])];
  if (remarked.length > 0) console.log(`\n${objections(remarked)}`);
}

/** The title, the version and the repository of the package in this folder, as Cargo knows them. */
async function ofProject() {
  const { code, out, err } = await output("cargo", ["metadata", "--no-deps", "--format-version=1"]);
  if (code !== 0) throw new Failure(err.trim());
  const found = JSON.parse(out).packages.find(({ manifest_path }) => manifest_path === resolve("Cargo.toml"));
  if (!found) throw new Failure("Cargo.toml in this folder has no package: run this command in the folder of a project");
  const source = /^https:\/\/(github|gitlab)\.com\//.exec(found.repository ?? "")?.[1];
  return {
    title: found.metadata?.toolbooth?.title ?? found.name,
    version: found.version,
    repository: source && { url: found.repository, source },
  };
}

/** What a client sends, by the value of AUTH: it needs no key where anyone may call, or where people can sign in. */
function headers(auth = "") {
  const ways = auth.split(",").map((way) => way.trim());
  if (!ways.includes("api-key")) return {};
  const isRequired = !ways.includes("none") && !ways.includes("sign-in");
  const key = { description: "The key that the operator of the server gave you", isRequired, isSecret: true };
  return { headers: [{ ...HEADER, isRequired, isSecret: true, variables: { api_key: key } }] };
}

/** What the registry would reject, as its schema and its documentation say. */
export function problems(server) {
  const text = (value, most) => typeof value === "string" && value.trim() !== "" && [...value].length <= most;
  const https = (value) => URL.canParse(value) && new URL(value).protocol === "https:";
  const { name, title, description, version, websiteUrl, icons = [], remotes: [remote] } = server;
  const host = URL.canParse(remote.url) ? new URL(remote.url) : undefined;
  const isPublic = host?.protocol === "https:" && /\.[a-z][a-z0-9-]*$/.test(host.hostname) && !/\.(localhost|local|internal)$/.test(host.hostname);
  const rows = [
    [/^[a-zA-Z0-9.-]+\.[a-zA-Z0-9-]+\/[a-zA-Z0-9._-]+$/.test(name) && name.length <= 200, "NAME", `is ${JSON.stringify(name)}; expected a reversed domain and a name, such as com.example/tools or io.github.ada/tools, with at most 200 characters`],
    [isPublic && host.pathname === "/mcp" && !host.search && !host.username, "URL", `is ${JSON.stringify(remote.url.replace(/\/mcp$/, ""))}; expected the public address of the Worker, such as https://tools.example.com, without a path`],
    [text(description, 100), "DESCRIPTION", `has ${[...String(description)].length} characters; expected 1 to 100 that say what people can do with the server`],
    [text(title, 100), "title in package.metadata.toolbooth of Cargo.toml", "must have 1 to 100 characters"],
    [/^\d+\.\d+\.\d+/.test(version), "version in Cargo.toml", `is ${version}; expected x.y.z`],
    [https(websiteUrl), `${FILE}: websiteUrl`, "must be an https address"],
    [Array.isArray(icons) && icons.every(({ src } = {}) => https(src) && src.length <= 255), `${FILE}: icons`, 'must be a list such as [{ "src": "https://example.com/icon.png" }], with addresses of at most 255 characters'],
  ];
  return rows.filter(([isRight]) => !isRight).map(([, place, expected]) => `${place} ${expected}`);
}

/** How the owner of the name proves it, and publishes server.json. */
function publishing(name, host) {
  const [namespace] = name.split("/");
  const publish = "  mcp-publisher publish\n\nThe registry takes each version once: change it in Cargo.toml before the next time.";
  if (namespace.startsWith("io.github.")) return `Publish it with mcp-publisher, as ${namespace.split(".")[2]} at GitHub:\n  mcp-publisher login github\n${publish}`;
  const domain = namespace.toLowerCase().split(".").reverse().join(".");
  const served = `Set the variable MCP_REGISTRY_AUTH to the line that this prints, and deploy: the Worker serves it at https://${domain}/.well-known/mcp-registry-auth.`;
  const elsewhere = `Serve the line that this prints at https://${domain}/.well-known/mcp-registry-auth. This Worker can only prove ${host}, whose names begin with ${host.split(".").reverse().join(".")}/.`;
  return `Prove once that ${domain} is yours. Keep key.pem out of the repository:
  openssl genpkey -algorithm Ed25519 -out key.pem
  echo "v=MCPv1; k=ed25519; p=$(openssl pkey -in key.pem -pubout -outform DER | tail -c 32 | base64)"
${domain === host ? served : elsewhere}

Then publish it:
  mcp-publisher login http --domain ${domain} --private-key "$(openssl pkey -in key.pem -noout -text | grep -A3 priv: | tail -n +2 | tr -d ' :\\n')"
${publish}`;
}

function parsed(text) {
  try {
    const value = JSON.parse(text);
    if (value !== null && typeof value === "object" && !Array.isArray(value)) return value;
  } catch {
    // The same message as for a list.
  }
  throw new Failure(`${FILE} must be a JSON object. Correct it, or delete it`);
}
