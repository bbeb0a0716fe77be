// The playground: choose a tool, fill in its form, run it, and see the same call in every protocol.
import { render } from "preact";
import { useCallback, useEffect, useState } from "preact/hooks";
import { at } from "../json.ts";
import { GetKey, KeyButton, useKeyChanges } from "../key.tsx";
import { Tabs, Unreachable } from "../parts.tsx";
import { type Protocol, protocols } from "../protocols.ts";
import { type Details, type Reply, type Tool, details, hasKey, index, models, tools } from "../server.ts";
import { idIn, isOld, toolOf } from "../tools.ts";
import { Chat } from "./chat.tsx";
import { ToolList } from "./list.tsx";
import { Workbench } from "./workbench.tsx";

interface Loaded {
  protocols: Protocol[];
  tools: Tool[] | Reply;
  details: Map<string, Details>;
  models: string[];
  /** Whether the visitor had given a key. */
  withKey: boolean;
}

/** The tool that the address names: `#Calculator.Add@1.0.0`. */
const named = () => idIn(location.hash);

/** What the server has, whether it failed to respond, and how to try again. */
function useLoaded(): [Loaded | undefined, boolean, () => void] {
  const changes = useKeyChanges();
  const [loaded, setLoaded] = useState<Loaded>();
  const [failed, setFailed] = useState(false);
  const [attempts, setAttempts] = useState(0);
  useEffect(() => {
    let current = true;
    const load = async () => {
      const withKey = hasKey();
      const [found, list] = await Promise.all([index(), tools()]);
      // Whoever may not list the tools may use nothing else.
      const [more, gateway] = Array.isArray(list) ? await Promise.all([details(), models()]) : [new Map<string, Details>(), []];
      if (current) setLoaded({ protocols: protocols(found), tools: list, details: more, models: gateway, withKey });
    };
    load().then(
      () => current && setFailed(false),
      () => current && setFailed(true),
    );
    return () => {
      current = false;
    };
  }, [changes, attempts]);
  return [loaded, failed, () => setAttempts(attempts + 1)];
}

function Playground() {
  const [loaded, failed, retry] = useLoaded();
  const [id, setId] = useState(named());
  const [view, setView] = useState<"Tools" | "Chat">("Tools");
  useEffect(() => {
    const onHash = () => setId(named());
    addEventListener("hashchange", onHash);
    return () => removeEventListener("hashchange", onHash);
  }, []);
  const choose = useCallback((chosen: string) => {
    location.hash = encodeURIComponent(chosen);
  }, []);
  if (failed) return <><h1>Playground</h1><Unreachable retry={retry} /></>;
  if (!loaded) return <p class="loading" role="status">Loading the tools…</p>;
  if (!Array.isArray(loaded.tools)) return <Closed reply={loaded.tools} withKey={loaded.withKey} />;
  const tool = toolOf(loaded.tools, id);
  const chats = view === "Chat" && loaded.models.length > 0;
  if (!tool) return <p class="notice">You may not call any tools on this server.</p>;
  return (
    <>
      {loaded.models.length > 0 && <Tabs names={["Tools", "Chat"] as const} chosen={view} label="View" panel="view" choose={setView} />}
      <div id="view" role={loaded.models.length > 0 ? "tabpanel" : undefined} aria-label={loaded.models.length > 0 ? view : undefined}>
        {/* The other view stays, with an answer that is still arriving and with what was filled in. */}
        {loaded.models.length > 0 && <div hidden={!chats}><Chat models={loaded.models} /></div>}
        <div class="playground" hidden={chats}>
          <ToolList tools={loaded.tools} details={loaded.details} chosen={tool.id} choose={choose} />
          <Workbench key={tool.id} tool={tool} details={isOld(tool, loaded.tools) ? undefined : loaded.details.get(tool.name)} protocols={loaded.protocols} />
        </div>
      </div>
    </>
  );
}

const LOCAL_HOSTS = ["localhost", "127.0.0.1", "[::1]"];

/** What visitors see if the list needs credentials. */
function Closed({ reply, withKey }: { reply: Reply; withKey: boolean }) {
  const needsKey = reply.status === 401;
  const message = at(reply.json, "/message");
  return (
    <div class="notice wide">
      <h1>{needsKey ? (withKey ? "The server does not accept this key" : "This server needs credentials") : "The tools could not be listed"}</h1>
      <p>{needsKey ? "Enter an API key or a token to see its tools and to call them." : typeof message === "string" ? message : `The server responded with status ${reply.status}.`}</p>
      {needsKey && <GetKey />}
      {needsKey && LOCAL_HOSTS.includes(location.hostname) && <p class="soft">With <code>toolbooth dev</code> or <code>make dev</code>, the key is <code>development-key</code>.</p>}
    </div>
  );
}

const app = document.getElementById("app");
const credentials = document.getElementById("credentials");
if (credentials) render(<KeyButton />, credentials);
if (app) {
  app.replaceChildren();
  render(<Playground />, app);
}
