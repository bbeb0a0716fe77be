// The step before a call for which a user must first grant access to an account: who asks, for which tool, at which provider. The
// button opens the server's page, and when the user has agreed, the call repeats.
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { isLocal } from "../credential.ts";
import { at } from "../json.ts";
import type { Challenge } from "../protocols.ts";
import { address, send } from "../server.ts";

/** The time between two checks, in milliseconds. */
const INTERVAL = 1500;

/** An address of the server as this page reaches it. */
function here(address: string): string {
  const { pathname, search } = new URL(address);
  return pathname + search;
}

interface AuthorizationProps {
  challenges: Challenge[];
  /** The tool's name for people. */
  tool: string;
  /** The providers of the tool, in case the server does not say which one it is. */
  providers: string[];
  /** The user that the call is for; "" if it names none, undefined for a person who has signed in. */
  user: string | undefined;
  /** How to send a user, if the call's protocol cannot. */
  advice: string | undefined;
  completed(proof: string | undefined): void;
}

export function Authorization({ challenges, tool, providers, user, advice, completed }: AuthorizationProps) {
  const challenge = challenges.find(({ check_url }) => check_url !== undefined);
  if (challenge?.check_url !== undefined) return <Step key={challenge.url} url={challenge.url} check={challenge.check_url} {...{ tool, providers, user, completed }} />;
  return (
    <div class="notice" role="status">
      <h3>{user === "" ? "Which user is this call for?" : "An access token is needed"}</h3>
      {user === "" ? (
        <p><strong>{tool}</strong> uses the account of a user, and an API key does not name one. {advice ?? "Enter the user in the form and run the tool again."}</p>
      ) : (
        <p><strong>{tool}</strong> uses an account at {providers.join(" and ")}, and this server is not set up to ask for access to it. {advice ?? "Enter an access token in the form and run the tool again, or ask the operator of the server."}{isLocal() && <> With <code>DEV_PROVIDER=1</code>, <code>make dev</code> and <code>toolbooth dev</code> start a stand-in that grants access.</>}</p>
      )}
    </div>
  );
}

interface StepProps extends Omit<AuthorizationProps, "challenges" | "advice"> {
  /** The page where the user agrees. */
  url: string;
  /** Where the server says whether they have. */
  check: string;
}

function Step({ url, check, tool, providers, user, completed }: StepProps) {
  const [provider, setProvider] = useState<string>();
  const [state, setState] = useState<"asked" | "opened" | "failed">("asked");
  const ask = async () => {
    const { json } = await send(here(check)).catch(() => ({ json: undefined }));
    const name = at(json, "/provider");
    setProvider((known) => (typeof name === "string" ? name : (known ?? providers.join(" and "))));
    const proof = at(json, "/proof");
    return { status: at(json, "/status"), proof: typeof proof === "string" ? proof : undefined };
  };
  useEffect(() => void ask(), [check]);
  // A layout effect ends with the step itself. Others end after a paint, which takes a while behind the tab where the user agrees.
  useLayoutEffect(() => {
    if (state !== "opened") return;
    // Several checks may be on their way: the first answer counts, and none after the step has gone.
    let isCurrent = true;
    const stop = () => {
      isCurrent = false;
      clearInterval(timer);
    };
    const timer = setInterval(async () => {
      const { status, proof } = await ask();
      if (!isCurrent || (status !== "completed" && status !== "failed")) return;
      stop();
      if (status === "completed") completed(proof);
      else setState("failed");
    }, INTERVAL);
    return stop;
  }, [state, check]);
  if (provider === undefined) return null;
  const account = user ? <>the account of <strong><bdi>{user}</bdi></strong></> : "your account";
  return (
    <div class="notice">
      <h3>Connect {provider}</h3>
      <p>{new URL(address()).host} asks for access to {account} at {provider}. The tool <strong>{tool}</strong> needs it.</p>
      {state === "failed" ? (
        <>
          <p role="alert">You declined, or {provider} did not grant access. Nothing was stored.</p>
          <p><button type="button" onClick={() => completed(undefined)}>Ask again</button></p>
        </>
      ) : (
        <>
          <p><a class="button" href={url} target="_blank" rel="noreferrer" onClick={() => setState("opened")}>Continue to {provider}</a></p>
          <p class="soft" role="status">
            {state === "opened" ? <><span class="spinner" aria-hidden="true" /> Waiting for you to agree. Then the call runs by itself.</> : "A new tab opens. Once you agree there, the call runs by itself."}
          </p>
        </>
      )}
    </div>
  );
}
