// The issues of a repository as a table, with a form that opens another one.
import { useState } from "preact/hooks";
import type { ViewProps } from "toolbooth/view";
import type { Output as Issue } from "./create_issue.types.js";
import type { Input, Output } from "./list_issues.types.js";
import "./issues.css";

type State = "idle" | "loading" | "opening";

export default function Issues({ view, input, result, error }: ViewProps<Input, Output>) {
  // What was loaded or opened here, in addition to the result of the call.
  const [more, setMore] = useState<Output>();
  const [opened, setOpened] = useState<Issue[]>([]);
  const [state, setState] = useState<State>("idle");
  const [title, setTitle] = useState("");
  const [message, setMessage] = useState<{ text: string; isProblem: boolean }>();
  if (!result) return <main>{error ? <p role="alert" class="problem">{error}</p> : <p class="soft" role="status">Loading the issues…</p>}</main>;

  const repository = { owner: input?.owner, repository: input?.repository };
  const issues = [...opened, ...result.issues, ...(more?.issues ?? [])];
  const nextPage = more ? more.next_page : result.next_page;
  const attempt = async (doing: State, run: () => Promise<string | undefined>) => {
    if (state !== "idle") return;
    setState(doing);
    setMessage(undefined);
    try {
      const text = await run();
      if (text) setMessage({ text, isProblem: false });
    } catch (error) {
      setMessage({ text: error instanceof Error ? error.message : "The call failed", isProblem: true });
    }
    setState("idle");
  };
  const loadMore = () =>
    attempt("loading", async () => {
      const page = await view.callTool<Output>("GitHub_ListIssues", { ...repository, state: input?.state ?? "open", page: nextPage });
      setMore({ ...page, issues: [...(more?.issues ?? []), ...page.issues] });
      return undefined;
    });
  const open = () =>
    title.trim() !== "" &&
    attempt("opening", async () => {
      const issue = await view.callTool<Issue>("GitHub_CreateIssue", { ...repository, title: title.trim() });
      setOpened([issue, ...opened]);
      setTitle("");
      return `Issue #${issue.number} is open.`;
    });
  return (
    <main aria-busy={state !== "idle"}>
      <h1>{repository.owner}/{repository.repository}</h1>
      <div class="table" tabIndex={0} role="region" aria-label="Issues">
        <table>
          <thead>
            <tr><th scope="col">Issue</th><th scope="col">Title</th><th scope="col">State</th></tr>
          </thead>
          <tbody>
            {issues.map(({ number, title, state, url }, at) => (
              <tr key={`${number} ${at}`}>
                <td>#{number}</td>
                <td><button type="button" class="link" onClick={() => void attempt("loading", async () => void (await view.openLink(url)))}>{title}</button></td>
                <td><span class={`state ${state}`}>{state}</span></td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {issues.length === 0 && <p class="soft">There are no such issues.</p>}
      {nextPage !== null && <button type="button" class="quiet" aria-disabled={state !== "idle"} onClick={() => void loadMore()}>{state === "loading" ? "Loading…" : "Show more"}</button>}
      {/* No form: hosts do not let views submit any. */}
      <div>
        <label for="title">New issue</label>
        <div class="row">
          <input id="title" placeholder="What is it about?" maxLength={256} autocomplete="off" value={title} onInput={({ currentTarget }) => setTitle(currentTarget.value)} onKeyDown={({ key }) => key === "Enter" && void open()} />
          <button type="button" aria-disabled={state !== "idle" || title.trim() === ""} onClick={() => void open()}>{state === "opening" ? "Opening…" : "Open issue"}</button>
        </div>
      </div>
      <p role={message?.isProblem ? "alert" : "status"} class={message?.isProblem ? "problem" : "soft"}>{message?.text}</p>
    </main>
  );
}
