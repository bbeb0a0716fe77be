#!/usr/bin/env node
// The command `toolbooth`.
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { Failure } from "../src/process.js";

const HELP = `toolbooth <command>

  dev      Run the Worker on http://localhost:8787 and rebuild it on every save; --port 8801 changes the port,
           --env staging uses the variables and bindings of that environment
  build    Build the Worker into build/; --crate, --out and --assets name other folders, --dev does not optimize
  test     Run the tests, which include the examples of every tool; with arguments, runs only cargo test and passes them on
  types    Check the types of tools and views in TypeScript, as test does
  tool     Create a tool: toolbooth tool Greeter.Hello --description "Greets a person."; --ts writes its function in TypeScript,
           --read-only says that it changes nothing, --definition calls a service without code, --http with code,
           --secret STOCK_KEY with a secret, --d1 uses a database, --scopes a,b requires scopes
  import   Create tools from an API's description (OpenAPI 3 or Swagger 2): toolbooth import openapi.json, or an address;
           --include issues,repos/get,/search selects tags, operationIds and paths, --toolkit GitHub names the toolkit,
           --auth provider:github or secret:NAME says how to authorize if the document does not, --dry-run writes nothing,
           --keep keeps the previous versions, --verbose lists every place
  key      Create an API key: toolbooth key ada mail:read,mail:send; --tools Greeter.* limits it to these tools, --tools none
           to chats, --rotate replaces the key of ada, --check file checks a value of API_KEYS with the Worker that was built
  deploy   Deploy to Cloudflare; arguments, such as --env staging, go to wrangler. --dry-run deploys nothing, says what is not
           configured, and fails if the Worker would reject every call
  registry Describe the deployed Worker to MCP's registry, in server.json: toolbooth registry com.example.tools/tools
           https://tools.example.com --description "…"; --check only says what directories would object to in the tools
  doctor   Check that everything the other commands need is there

toolbooth <command> --help describes one command, toolbooth --version prints the version.
`;

const text = { type: "string" };
const flag = { type: "boolean" };
const COMMANDS = {
  async dev(args) {
    const { values } = options(args, { crate: text, port: text, env: text });
    const { dev } = await import("../src/dev.js");
    await dev(values);
  },
  async build(args) {
    const { values } = options(args, { crate: text, out: text, assets: text, dev: { type: "boolean" } });
    const { build } = await import("../src/build.js");
    await build(values);
  },
  async test(args) {
    const { test } = await import("../src/test.js");
    await test(args);
  },
  async types(args) {
    options(args, {});
    const { checkTypes } = await import("../src/types.js");
    await checkTypes();
  },
  async tool(args) {
    const flags = { folder: text, description: text, ts: flag, "read-only": flag, http: flag, definition: flag, d1: flag, secret: text, scopes: text };
    const { values, positionals } = options(args, flags, 1);
    const { tool } = await import("../src/tool.js");
    tool(positionals[0], values);
  },
  async import(args) {
    const flags = { folder: text, toolkit: text, include: text, auth: text, "dry-run": flag, keep: flag, verbose: flag };
    const { values, positionals } = options(args, flags, 1);
    const { importDocument } = await import("../src/import.js");
    await importDocument(positionals[0], values);
  },
  async key(args) {
    const { values, positionals } = options(args, { tools: text, rotate: flag, check: text }, ({ check }) => (check === undefined ? 2 : 0));
    const { key, checkKeys } = await import("../src/key.js");
    if (values.check === undefined) key(positionals[0], positionals[1], values);
    else await checkKeys(values.check);
  },
  async deploy(args) {
    const { deploy } = await import("../src/deploy.js");
    await deploy(args);
  },
  async registry(args) {
    const { values, positionals } = options(args, { description: text, check: flag }, ({ check }) => (check ? 0 : 2));
    const { check, registry } = await import("../src/registry.js");
    if (values.check) check();
    else await registry(positionals[0], positionals[1], values);
  },
  async doctor(args) {
    options(args, {});
    const { doctor } = await import("../src/doctor.js");
    await doctor();
  },
  async help() {
    console.log(HELP);
  },
  async "--version"() {
    console.log(JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version);
  },
};
for (const flag of ["--help", "-h"]) COMMANDS[flag] = COMMANDS.help;

const [name = "help", ...args] = process.argv.slice(2);
try {
  if (!Object.hasOwn(COMMANDS, name)) throw new Failure(`There is no command ${name}.\n\n${HELP}`, 2);
  if (["--help", "-h"].includes(args[0])) console.log(usage(name));
  else await COMMANDS[name](args);
} catch (error) {
  if (!(error instanceof Failure)) throw error;
  if (error.message) console.error(error.message);
  process.exitCode = error.code;
}

/** The part of the help about one command. */
function usage(name) {
  const about = new RegExp(`^  (${name} .*(?:\\n {4,}.*)*)`, "m").exec(HELP)?.[1];
  return about ? `toolbooth ${about}` : HELP;
}

/**
 * The options and the other arguments of a command. `most`: how many of the latter it takes, or a function that returns the number for
 * these options.
 */
function options(args, options, most = 0) {
  const { values, positionals } = parsed(args, options);
  const [unexpected] = positionals.slice(typeof most === "function" ? most(values) : most);
  if (unexpected === undefined) return { values, positionals };
  throw new Failure(`Unexpected argument: ${unexpected}. Write a list without spaces, such as a,b, and text with spaces in quotes.\n\n${usage(name)}`, 2);
}

function parsed(args, options) {
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    throw new Failure(error.message, 2);
  }
}
