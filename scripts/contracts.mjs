// Writes the OpenAPI documents of docs/contracts: node scripts/contracts.mjs
import { writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { gateway } from "./contracts/gateway.mjs";
import { auth, doctor, registration, root, serverCard, wellKnown } from "./contracts/host.mjs";
import { jsonRpc, openTool } from "./contracts/json-rpc.mjs";
import { langchain } from "./contracts/langchain.mjs";
import { mcp } from "./contracts/mcp.mjs";
import { messages } from "./contracts/messages.mjs";
import { print } from "./contracts/openapi.mjs";
import { account, oauth } from "./contracts/oauth.mjs";
import { otc, oxp, oxpPublished } from "./contracts/oxp.mjs";
import { providerCalls, providerLists } from "./contracts/providers.mjs";
import { responses } from "./contracts/responses.mjs";
import { rest } from "./contracts/rest.mjs";
import { tasks } from "./contracts/tasks.mjs";
import { usage } from "./contracts/usage.mjs";
import { xaibo } from "./contracts/xaibo.mjs";

export const folder = new URL("../docs/contracts/", import.meta.url);

/** The text of each file of the folder. */
export const files = Object.fromEntries(
  Object.entries({
    account,
    auth,
    doctor,
    gateway,
    jsonrpc: jsonRpc,
    langchain,
    mcp,
    messages,
    oauth,
    opentool: openTool,
    otc,
    "oxp-1.0": oxpPublished,
    oxp,
    "provider-calls": providerCalls,
    "provider-lists": providerLists,
    responses,
    registration,
    rest,
    root,
    "server-card": serverCard,
    tasks,
    usage,
    "well-known": wellKnown,
    xaibo,
  }).map(([name, document]) => [`${name}.json`, print(document)]),
);

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  for (const [name, text] of Object.entries(files)) writeFileSync(new URL(name, folder), text);
}
