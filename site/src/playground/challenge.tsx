// A user's authorization: opens the server's page in a new window and repeats the call when the user has agreed.
import { useEffect, useRef, useState } from "preact/hooks";
import { at } from "../json.ts";
import type { Challenge } from "../protocols.ts";
import { send } from "../server.ts";

/** The time between two checks, in milliseconds. */
const INTERVAL = 1500;

/** An address of the server as this page reaches it. */
function here(address: string): string {
  const { pathname, search } = new URL(address);
  return pathname + search;
}

export function Challenges({ challenges, completed }: { challenges: Challenge[]; completed(proof: string | undefined): void }) {
  const [challenge] = challenges;
  const [failed, setFailed] = useState(false);
  const opened = useRef(false);
  useEffect(() => {
    if (challenge?.check_url === undefined) return;
    // Browsers allow this shortly after a click; otherwise the link below remains.
    if (!opened.current) window.open(challenge.url, "_blank", "popup,width=520,height=720");
    opened.current = true;
    const path = here(challenge.check_url);
    const timer = setInterval(async () => {
      const { json } = await send(path).catch(() => ({ json: undefined }));
      const status = at(json, "/status");
      if (status === "pending" || status === undefined) return;
      clearInterval(timer);
      const proof = at(json, "/proof");
      if (status === "completed") completed(typeof proof === "string" ? proof : undefined);
      else setFailed(true);
    }, INTERVAL);
    return () => clearInterval(timer);
  }, [challenge?.check_url]);
  if (challenge === undefined) return null;
  const isHelp = challenge.check_url === undefined;
  return (
    <div class="notice">
      {isHelp ? (
        <p>This tool needs access to a user's account on another service. Enter the user in the form, or <a href={challenge.url} target="_blank" rel="noreferrer">read how to send a token</a>.</p>
      ) : failed ? (
        <p role="alert">The authorization failed or expired. Run the call again.</p>
      ) : (
        <>
          <p role="status"><span class="spinner" aria-hidden="true" /> Waiting for your authorization. The call resumes automatically.</p>
          <p><a class="button secondary" href={challenge.url} target="_blank" rel="noreferrer">Open the page</a></p>
        </>
      )}
    </div>
  );
}
