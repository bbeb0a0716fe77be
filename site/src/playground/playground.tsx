// The playground: choose a tool, fill in its form, run it, and see the same call in every protocol.
import { render } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { at } from "../json.ts";
import { type Credential, credential, isLocal, takeKey } from "../credential.ts";
import { Credentials, GetKey, useCredentialChanges, useWithoutSignIn, whyClosed } from "../key.tsx";
import { Tabs, Unreachable } from "../parts.tsx";
import { type Protocol, protocols } from "../protocols.ts";
import { type Details, type Model, type Reply, type Tool, details, index, models, tools } from "../server.ts";
import { idIn, isOld, toolOf, versionsOf } from "../tools.ts";
import { Chat } from "./chat.tsx";
import { AllowChat, MoreTools, NoTool, useMayAllowChat } from "./permissions.tsx";
import { ToolList } from "./list.tsx";
import { Workbench } from "./workbench.tsx";

interface Loaded {
  protocols: Protocol[];
  tools: Tool[] | Reply;
  details: Map<string, Details>;
  models: Model[];
  /** The credential with which all this was asked for. */
  used: Credential | undefined;
}

/** The tool that the address names: `#Calculator.Add@1.0.0`. */
const named = () => idIn(location.hash);

/** What the server has, whether it failed to respond, and how to try again. */
function useLoaded(): [Loaded | undefined, boolean, () => void] {
  const changes = useCredentialChanges();
  const [loaded, setLoaded] = useState<Loaded>();
  const [failed, setFailed] = useState(false);
  const [attempts, setAttempts] = useState(0);
  useEffect(() => {
    let current = true;
    const load = async () => {
      const used = credential();
      const [found, list] = await Promise.all([index(), tools()]);
      // A visitor who may not list the tools may use nothing else.
      const [more, gateway] = Array.isArray(list) ? await Promise.all([details(), models()]) : [new Map<string, Details>(), []];
      if (current) setLoaded({ protocols: protocols(found), tools: list, details: more, models: gateway, used });
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
  const mayAllowChat = useMayAllowChat();
  const [view, setView] = useState<"Tools" | "Chat">("Tools");
  useEffect(() => {
    const onHash = () => {
      takeKey();
      setId(named());
    };
    addEventListener("hashchange", onHash);
    return () => removeEventListener("hashchange", onHash);
  }, []);
  const choose = useCallback((chosen: string) => {
    location.hash = encodeURIComponent(chosen);
  }, []);
  // Whoever has chosen a tool from the list goes on in its form. The menu of narrow screens keeps the focus: arrow keys choose there.
  const entersForm = useRef(false);
  if (failed) return <><h1>Playground</h1><Unreachable retry={retry} /></>;
  if (!loaded) return <p class="loading" role="status">Loading the tools…</p>;
  if (!Array.isArray(loaded.tools)) return <Closed reply={loaded.tools} used={loaded.used} />;
  const tool = toolOf(loaded.tools, id);
  const hasChat = loaded.models.length > 0;
  const hasViews = hasChat || mayAllowChat;
  const chats = view === "Chat" && hasViews;
  return (
    <>
      {hasViews && <Tabs names={["Tools", "Chat"] as const} chosen={view} label="View" panel="view" choose={setView} />}
      <div id="view" role={hasViews ? "tabpanel" : undefined} aria-label={hasViews ? view : undefined}>
        {/* The other view stays, with an answer that is still arriving and with what was filled in. */}
        {hasChat && <div hidden={!chats}><Chat models={loaded.models} tools={loaded.tools} details={loaded.details} /></div>}
        {!hasChat && chats && <AllowChat />}
        <div class="playground" hidden={chats}>
          <ToolList tools={loaded.tools} details={loaded.details} chosen={tool?.id ?? ""} choose={choose} followed={() => (entersForm.current = true)}><MoreTools /></ToolList>
          {tool ? (
            <Workbench key={tool.id} tool={tool} versions={versionsOf(tool, loaded.tools)} enters={entersForm} details={isOld(tool, loaded.tools) ? undefined : loaded.details.get(tool.name)} protocols={loaded.protocols} />
          ) : loaded.tools.length > 0 ? (
            id.toLowerCase() === "chat" ? <div class="notice wide"><h1>There is no chat here</h1><p>This server has no language model. Its operator can add one: <a href="/docs/gateway">Chat gateway</a>.</p></div> :
            <NoTool id={id} />
          ) : (
            <div class="notice wide"><h1>Playground</h1><p>There are no tools that you may call on this server.</p></div>
          )}
        </div>
      </div>
    </>
  );
}

/** What visitors see if the list needs credentials. */
function Closed({ reply, used }: { reply: Reply; used: Credential | undefined }) {
  const needsKey = reply.status === 401;
  const message = at(reply.json, "/message");
  const { problem, advice } = whyClosed(used);
  // With a sign-in there may be no key.
  const speaksOfKey = useWithoutSignIn() && needsKey && isLocal();
  return (
    <div class="notice wide">
      <h1>{needsKey ? problem : "The tools could not be listed"}</h1>
      <p>{needsKey ? advice : typeof message === "string" ? message : `The server responded with status ${reply.status}.`}</p>
      {needsKey && <GetKey />}
      {speaksOfKey && <p class="soft"><code>make dev</code> or <code>toolbooth dev</code> prints the address that opens this page with the development key.</p>}
    </div>
  );
}

const app = document.getElementById("app");
const credentials = document.getElementById("credentials");
takeKey();
if (credentials) render(<Credentials />, credentials);
if (app) {
  app.replaceChildren();
  render(<Playground />, app);
}
