// A call as code in each language, with tabs.
import { useEffect, useMemo, useState } from "preact/hooks";
import type { Json } from "./json.ts";
import { useCredential } from "./key.tsx";
import { Code, Tabs } from "./parts.tsx";
import { type CallContext, type Protocol, bodyOf, pathOf } from "./protocols.ts";
import { address, type Tool } from "./server.ts";
import { LANGUAGES, type Language, snippet } from "./snippets.ts";

interface CallProps {
  protocol: Protocol;
  tool: Tool;
  input: Json;
  context?: CallContext;
  /** Why the code is not that of the current input, if it is not. */
  outdated?: string;
}

export function CallCode({ protocol, tool, input, context, outdated }: CallProps) {
  const used = useCredential();
  const hasKey = used !== undefined;
  const [language, setLanguage] = useState<Language>("curl");
  const text = useMemo(() => {
    const body = bodyOf(protocol, tool, input, protocol.carriesContext && context ? hidden(context) : {});
    return snippet(language, { url: `${address()}${pathOf(protocol, tool)}`, headers: protocol.headers, body, withKey: hasKey });
  }, [protocol, language, tool, input, context, hasKey]);
  return (
    <>
      <Tabs names={LANGUAGES} chosen={language} label="Language" panel="call-panel" choose={setLanguage} />
      {/* It is there before its text: otherwise, screen readers may not announce the text. */}
      <p class="outdated" role="status">{outdated}</p>
      <div id="call-panel" role="tabpanel" aria-label={language} class={outdated && "stale"}>
        <Code text={text} label={outdated ? `outdated call in ${language}` : `call in ${language}`} />
      </div>
      {used?.person && <OwnToken key={used.secret} token={used.secret} />}
    </>
  );
}

/** How a person who has signed in, and has no key, runs the code. The page shows the token nowhere. */
function OwnToken({ token }: { token: string }) {
  const [said, say] = useState<string>();
  useEffect(() => {
    if (said === undefined) return;
    const timer = setTimeout(() => say(undefined), 5_000);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(`export TOOLBOOTH_KEY='${token}'`);
      say("Copied: paste it into your shell.");
    } catch {
      say("The browser did not let this page copy it.");
    }
  };
  return (
    <div class="own-token">
      <p class="note">The code reads a token from <code>TOOLBOOTH_KEY</code>. Yours can do what you have allowed this page, until it expires or you sign out. Agents need none, because they sign in themselves:</p>
      <Code text={`claude mcp add --transport http toolbooth ${address()}/mcp`} label="command for Claude Code" />
      <div class="row"><button type="button" class="secondary" onClick={copy}>Copy the line that sets it</button> <span role="status">{said}</span></div>
    </div>
  );
}

/** A context without its tokens and secrets, for code that may be shared. */
export function hidden({ user_id, authorization, secrets }: CallContext): CallContext {
  return {
    ...(user_id && { user_id }),
    ...(authorization && { authorization: authorization.map(({ id }) => ({ id, token: "…" })) }),
    ...(secrets && { secrets: secrets.map(({ id }) => ({ id, value: "…" })) }),
  };
}
