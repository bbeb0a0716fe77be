// The commands with their options, as `--help` prints them and as they are read.

/**
 * `usage`: the arguments. `options`: each with what it does; one with `<…>` takes a value. `more`: what to know beyond them. Arguments
 * of commands that pass them on are not read, so `passes` lists options only for the help.
 */
const COMMANDS = {
  dev: {
    about: "Run the Worker on http://localhost:8787 and rebuild it on every save",
    options: {
      "--port <number>": "Listen on a different port, such as 8801",
      "--env <name>": "Use the variables and bindings of an environment of wrangler.toml, such as staging",
      "--inspect": "Let a debugger connect to port 9229",
      "--crate <folder>": "Run the Worker of a different folder",
    },
  },
  build: {
    about: "Build the Worker into build/",
    options: {
      "--dev": "Do not optimize, which is quicker",
      "--crate <folder>": "Build the Worker of a different folder",
      "--out <folder>": "Write into a folder other than build/",
      "--assets <folder>": "Serve the pages of this folder instead of building them",
    },
  },
  test: {
    about: "Run the tests, which include the examples of every tool",
    usage: "[arguments]",
    more: "With arguments, it runs only cargo test, and passes them on. --tools leaves out the other packages of a workspace.",
  },
  types: { about: "Check the types of tools and views in TypeScript, as test does" },
  tool: {
    about: "Create a tool: a definition, and a function in Rust",
    usage: "<Toolkit.Tool> [options]",
    options: {
      "--description <text>": "What the tool does, for models",
      "--ts": "Write the function in TypeScript",
      "--read-only": "The tool changes nothing, so clients need not ask the user first",
      "--definition": "It calls a service without code: the definition describes the request",
      "--http": "It calls a service with code",
      "--secret <NAME>": "It sends a key to the service, such as STOCK_KEY",
      "--d1": "It uses a database in D1",
      "--scopes <a,b>": "What the keys and tokens of its callers must have",
      "--folder <folder>": "Write into a folder other than tools/",
    },
    example: 'toolbooth tool Greeter.Hello --description "Greets a person by name."',
  },
  definition: {
    about: "Convert descriptions of tools, such as MCP's tools/list, to definitions",
    usage: "--from <file> [options]",
    options: {
      "--from <file>": "JSON: definitions of earlier drafts, or tools of MCP, OpenAI, Anthropic, Gemini or Bedrock",
      "--toolkit <Name>": "The name of the toolkit, such as GitHub; otherwise that of the file",
      "--ts": "Write functions in TypeScript, to be filled in",
      "--replace": "Replace definitions that exist",
      "--dry-run": "Write nothing, and say what would be written and what is changed",
      "--folder <folder>": "Write into a folder other than tools/",
    },
    example: "toolbooth definition --from tools-list.json --toolkit GitHub",
  },
  import: {
    about: "Create tools from an API's description (OpenAPI 3 or Swagger 2)",
    usage: "<file or address> [options]",
    options: {
      "--include <a,b>": "Only these tags, operationIds and paths, such as issues,repos/get,/search",
      "--toolkit <Name>": "The name of the toolkit, such as GitHub",
      "--auth <kind>": "How to authorize if the document does not say: provider:github or secret:NAME",
      "--dry-run": "Write nothing, and say what would be written",
      "--keep": "Keep the previous versions of changed tools",
      "--slim": "Shorten tools of more than 16,000 characters",
      "--verbose": "List every place that a message is about",
      "--folder <folder>": "Write into a folder other than tools/",
    },
    example: "toolbooth import openapi.json --include pets --dry-run",
  },
  key: {
    about: "Create an API key",
    usage: "<name> [scopes] [options]",
    options: {
      "--tools <patterns>": "Allow only these tools, such as Greeter.*; none allows only chats",
      "--rotate": "Replace the key of this name",
      "--check <file>": "Create nothing: check a value of API_KEYS with the Worker that was built",
    },
    example: "toolbooth key ada mail:read,mail:send",
  },
  deploy: {
    about: "Deploy to Cloudflare",
    usage: "[arguments]",
    passes: {
      "--env <name>": "Deploy an environment of wrangler.toml, such as staging",
      "--dry-run": "Deploy nothing: say what is not configured, and fail if a variable would stop every call",
    },
    more: "All arguments go to wrangler.",
  },
  stack: {
    about: "Name the project's files in stacks of the deployed Worker's log",
    usage: "[file]",
    more: "Without a file, it reads the log from its input. It needs the folder of the deployment.",
    example: "toolbooth stack log.txt",
  },
  registry: {
    about: "Describe the deployed Worker to MCP's registry, in server.json",
    usage: "<name> <address> [options]",
    options: {
      "--description <text>": "What people can do with the server",
      "--check": "Write nothing: say what directories of MCP servers would object to in the tools",
    },
    example: 'toolbooth registry com.example.tools/tools https://tools.example.com --description "Greets people."',
  },
  doctor: { about: "Check that everything the other commands need is there" },
};

/** Lines of two columns. */
function columns(rows) {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, about]) => `  ${name.padEnd(width)}  ${about}`).join("\n");
}

/** The help about all commands. */
export const HELP = `toolbooth <command>

${columns(Object.entries(COMMANDS).map(([name, { about }]) => [name, about]))}

toolbooth <command> --help describes a command and its options, toolbooth --version prints the version.
`;

/** The help about one command. */
export function helpOf(name) {
  if (!Object.hasOwn(COMMANDS, name)) return HELP;
  const { about, options = {}, passes = {}, usage = Object.keys(options).length > 0 ? "[options]" : "", more, example } = COMMANDS[name];
  const rows = Object.entries({ ...options, ...passes });
  const parts = [`toolbooth ${name} ${usage}`.trim(), `${about}.`, rows.length > 0 && columns(rows), more, example && `For example:\n\n  ${example}`];
  return `${parts.filter(Boolean).join("\n\n")}\n`;
}

/** The options of a command, as `parseArgs` takes them. */
export function optionsOf(name) {
  const names = Object.keys(COMMANDS[name].options ?? {}).map((option) => /^--([\w-]+)( <)?/.exec(option));
  return Object.fromEntries(names.map(([, option, takesValue]) => [option, { type: takesValue ? "string" : "boolean" }]));
}

/** The names of all commands. */
export const NAMES = Object.keys(COMMANDS);
