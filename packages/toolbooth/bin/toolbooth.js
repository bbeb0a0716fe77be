#!/usr/bin/env node
// The command `toolbooth`.
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { HELP, NAMES, helpOf, optionsOf } from "../src/help.js";
import { Failure } from "../src/process.js";

const COMMANDS = {
  async dev(args) {
    const { values } = options("dev", args);
    const { dev } = await import("../src/dev.js");
    await dev(values);
  },
  async build(args) {
    const { values } = options("build", args);
    const { build } = await import("../src/build.js");
    await build(values);
  },
  async test(args) {
    const { test } = await import("../src/test.js");
    await test(args);
  },
  async types(args) {
    options("types", args);
    const { checkTypes } = await import("../src/types.js");
    await checkTypes();
  },
  async tool(args) {
    const { values, positionals } = options("tool", args, 1);
    const { tool } = await import("../src/tool.js");
    tool(positionals[0], values);
  },
  async definition(args) {
    const { values } = options("definition", args);
    const { convert } = await import("../src/convert.js");
    convert(values);
  },
  async import(args) {
    const { values, positionals } = options("import", args, 1);
    const { importDocument } = await import("../src/import.js");
    await importDocument(positionals[0], values);
  },
  async key(args) {
    const { values, positionals } = options("key", args, ({ check }) => (check === undefined ? 2 : 0));
    const { key, checkKeys } = await import("../src/key.js");
    if (values.check === undefined) key(positionals[0], positionals[1], values);
    else await checkKeys(values.check);
  },
  async deploy(args) {
    const { deploy } = await import("../src/deploy.js");
    await deploy(args);
  },
  async stack(args) {
    const { positionals } = options("stack", args, 1);
    const { stack } = await import("../src/stacks.js");
    stack(positionals[0]);
  },
  async registry(args) {
    const { values, positionals } = options("registry", args, ({ check }) => (check ? 0 : 2));
    if (!values.check && positionals.length < 2) throw new Failure("Name the server and its address: toolbooth registry com.example.tools/tools https://tools.example.com", 2);
    const { check, registry } = await import("../src/registry.js");
    if (values.check) check();
    else await registry(positionals[0], positionals[1], values);
  },
  async doctor(args) {
    options("doctor", args);
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
  if (!Object.hasOwn(COMMANDS, name)) throw await unknown(name);
  if (["--help", "-h"].includes(args[0])) console.log(helpOf(name));
  else await COMMANDS[name](args);
} catch (error) {
  if (!(error instanceof Failure)) throw error;
  if (error.message) console.error(error.message);
  process.exitCode = error.code;
}

async function unknown(given) {
  const { distance } = await import("../src/variables.js");
  // Any two words of three letters resemble each other.
  const meant = NAMES.find((name) => distance(given, name) <= Math.min(2, name.length - 3));
  return new Failure(`There is no command ${given}${meant ? `: did you mean ${meant}?` : "."}\n\n${HELP}`, 2);
}

/**
 * The options and the other arguments of a command. `most`: how many of the latter it takes, or a function that returns the number for
 * these options.
 */
function options(name, args, most = 0) {
  const { values, positionals } = parsed(name, args);
  const [unexpected] = positionals.slice(typeof most === "function" ? most(values) : most);
  if (unexpected === undefined) return { values, positionals };
  throw new Failure(`Unexpected argument: ${unexpected}. Write a list without spaces, such as a,b, and text with spaces in quotes.\n${pointer(name)}`, 2);
}

function parsed(name, args) {
  try {
    return parseArgs({ args, options: optionsOf(name), allowPositionals: true });
  } catch (error) {
    const [, option] = /'(-[^' ]*)/.exec(error.message) ?? [];
    const isUnknown = error.code === "ERR_PARSE_ARGS_UNKNOWN_OPTION";
    const message = isUnknown ? `There is no option ${option}` : /does not take/.test(error.message) ? `${option} takes no value` : `${option} needs a value`;
    throw new Failure(`${message}.\n${pointer(name)}`, 2);
  }
}

function pointer(name) {
  return `toolbooth ${name} --help lists the options and arguments.`;
}
