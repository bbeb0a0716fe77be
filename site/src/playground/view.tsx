// The view of a tool's result, as hosts of MCP Apps show it: in a frame without an origin, which talks to the playground only. What it asks
// for that changes something waits for the visitor.
import { useEffect, useRef, useState } from "preact/hooks";
import { type Json, type JsonObject, at, isObject, stringify } from "../json.ts";
import type { CallContext } from "../protocols.ts";
import { type Tool, post } from "../server.ts";
import { Refusal, allowOf, host, permissionsOf, withPolicy } from "./host.ts";

/** The page of the server that becomes the view. */
const FRAME = "/playground/view";
/** The colours of the playground, by the names that views know. */
const COLORS: Record<string, string> = {
  "--color-background-primary": "--paper",
  "--color-background-secondary": "--sunken",
  "--color-background-tertiary": "--ground",
  "--color-text-primary": "--ink",
  "--color-text-secondary": "--soft",
  "--color-text-info": "--accent",
  "--color-text-danger": "--bad",
  "--color-text-success": "--good",
  "--color-text-warning": "--warn",
  "--color-background-danger": "--bad-soft",
  "--color-background-success": "--good-soft",
  "--color-background-warning": "--warn-soft",
  "--color-border-primary": "--line",
  "--color-border-secondary": "--edge",
  "--color-ring-primary": "--accent",
};

interface ViewProps {
  /** The address of the view. */
  uri: string;
  /** The tool's name for people. */
  title: string;
  tool: Tool;
  input: Json;
  value: Json;
  /** The user, tokens and secrets of the call. Those of the view have the same; it does not see them. */
  context: CallContext;
}

/** What the view wants to do, and how to decide. */
interface Question {
  number: number;
  text: string;
  detail: string;
  decide(agrees: boolean): void;
}

let lastId = 0;

/** Sends a request to the server's MCP. Throws a `Refusal` with the message of the error. */
async function ask(method: string, params: JsonObject = {}): Promise<Json> {
  const { json } = await post("/mcp?tools=all", stringify({ jsonrpc: "2.0", id: (lastId += 1), method, params }));
  const result = at(json, "/result");
  const message = at(json, "/error/message");
  if (result === undefined) throw new Refusal(typeof message === "string" ? message : "The server returned no result");
  return result;
}

/** What the server says about the tool `name`; undefined if the visitor may not call it. */
async function listed(name: string): Promise<Json | undefined> {
  const tools = at(await ask("tools/list"), "/tools");
  return Array.isArray(tools) ? tools.find((tool) => at(tool, "/name") === name) : undefined;
}

/** The toolkit of the tool with this id. */
const toolkitOf = (id: Json | undefined): string | undefined => (typeof id === "string" ? id.split(".")[0] : undefined);

/** The result of a call, as MCP returns it. */
function resultOf(value: Json): JsonObject {
  const isContent = Array.isArray(value) && value.length > 0 && value.every((block) => typeof at(block, "/type") === "string");
  if (isContent) return { content: value };
  const structuredContent = isObject(value) ? value : { result: value };
  return { content: [{ type: "text", text: stringify(structuredContent) }], structuredContent };
}

export function View({ uri, title, tool, input, value, context }: ViewProps) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [page, setPage] = useState<{ html: string; csp: JsonObject; permissions: JsonObject; isPlain: boolean } | { problem: string }>();
  const [wanted, setWanted] = useState(160);
  const [questions, setQuestions] = useState<Question[]>([]);
  const asked = useRef(0);

  useEffect(() => {
    let current = true;
    const load = async () => {
      const contents = at(await ask("resources/read", { uri }), "/contents/0");
      const text = at(contents, "/text");
      if (typeof text !== "string") throw new Refusal("The server returned no page");
      const [csp, permissions] = ["csp", "permissions"].map((name) => at(contents, `/_meta/ui/${name}`)).map((it) => (isObject(it) ? it : {}));
      const isPlain = at(contents, "/_meta/ui/prefersBorder") === false;
      return { html: text, csp: csp ?? {}, permissions: permissionsOf(permissions ?? {}), isPlain };
    };
    load().then(
      (page) => current && setPage(page),
      (error) => current && setPage({ problem: error instanceof Refusal ? error.message : "The server did not respond" }),
    );
    return () => {
      current = false;
    };
  }, [uri]);

  /** Waits for the visitor. */
  const agree = (text: string, detail: string) =>
    new Promise<void>((resolve, reject) => {
      const question: Question = {
        number: (asked.current += 1),
        text,
        detail,
        decide: (agrees) => {
          setQuestions((all) => all.filter((one) => one !== question));
          if (agrees) resolve();
          else reject(new Refusal("The user declined"));
        },
      };
      setQuestions((all) => [...all, question]);
    });

  const height = useRef(wanted);
  // During a question, the view could otherwise move a button under the pointer.
  if (questions.length === 0) height.current = wanted;

  useEffect(() => {
    const shown = frame.current;
    if (!shown || !page || "problem" in page) return;
    const callTool = async (name: string, input: JsonObject) => {
      const found = await listed(name);
      const visibility = at(found, "/_meta/ui/visibility");
      if (found === undefined || (Array.isArray(visibility) && !visibility.includes("app"))) throw new Refusal(`There is no tool ${name} for views`);
      const label = at(found, "/title") ?? name;
      const wants = `The view wants to run ${String(label)}`;
      if (at(found, "/annotations/readOnlyHint") !== true) await agree(`${wants}, which may change something.`, stringify(input, 2));
      // Otherwise a view could read with one toolkit, and send what it has read elsewhere with another.
      else if (toolkitOf(at(found, "/_meta/toolbooth~1id")) !== toolkitOf(tool.id)) await agree(`${wants}, which belongs to a different toolkit and gets this input.`, stringify(input, 2));
      return ask("tools/call", { name, arguments: input, _meta: { "toolbooth/context": context as unknown as Json } });
    };
    const openLink = async (url: URL) => {
      await agree("The view wants to open a page.", url.href);
      open(url, "_blank", "noopener,noreferrer");
    };
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const theme = () => (dark.matches ? "dark" : "light");
    const style = getComputedStyle(document.documentElement);
    const variables = Object.fromEntries(Object.entries(COLORS).map(([name, own]) => [name, style.getPropertyValue(own).trim()]));
    const running = host(shown, {
      context: {
        theme: theme(),
        styles: { variables },
        displayMode: "inline",
        availableDisplayModes: ["inline"],
        containerDimensions: { width: shown.clientWidth },
        locale: navigator.language,
        timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
        platform: "web",
        userAgent: "Playground",
        toolInfo: { tool: { name: tool.name, title, description: tool.description, inputSchema: tool.input_schema as unknown as Json } },
      },
      csp: page.csp,
      permissions: page.permissions,
      input: isObject(input) ? input : {},
      result: resultOf(value),
      callTool,
      openLink,
      resized: setWanted,
    });
    const onTheme = () => running.tell({ theme: theme() });
    // Only the first page of the frame becomes the view: it cannot have another one loaded in its place.
    const onReady = ({ source, data }: MessageEvent) => {
      if (source !== shown.contentWindow || !isObject(data as Json) || data.isReady !== true) return;
      removeEventListener("message", onReady);
      shown.contentWindow?.postMessage({ html: withPolicy(page.html, page.csp) }, "*");
    };
    addEventListener("message", onReady);
    dark.addEventListener("change", onTheme);
    shown.allow = allowOf(page.permissions);
    shown.src = FRAME;
    return () => {
      removeEventListener("message", onReady);
      dark.removeEventListener("change", onTheme);
      running.end();
    };
  }, [page]);

  if (page && "problem" in page) return <p class="failure" role="alert">The view could not be shown: {page.problem}</p>;
  return (
    <section class="view" aria-label={`View of ${title}`}>
      <iframe ref={frame} class={page?.isPlain ? "plain" : undefined} title={`View of ${title}`} sandbox="allow-scripts" height={height.current} />
      {questions.map((question) => (
        <div class="notice" role="alert" key={question.number}>
          <p>{question.text}</p>
          <pre tabIndex={0} aria-label="What the view sends">{question.detail}</pre>
          <div class="row">
            <Allow agree={() => question.decide(true)} />
            <button type="button" class="secondary" onClick={() => question.decide(false)}>Decline</button>
          </div>
        </div>
      ))}
    </section>
  );
}

/** How long the button to agree takes no click, in milliseconds: the second click of a double click was meant for the view. */
const SETTLED = 700;

function Allow({ agree }: { agree(): void }) {
  const [isReady, setReady] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setReady(true), SETTLED);
    return () => clearTimeout(timer);
  }, []);
  return <button type="button" disabled={!isReady} onClick={agree}>Allow</button>;
}
