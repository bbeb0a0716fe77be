// Connections to MCP servers that keep a session for each client, which revision 2026-07-28 no longer has.
import { Connection, post } from "./load.mjs";

const VERSION = "2025-11-25";
const CLIENT = { protocolVersion: VERSION, capabilities: {}, clientInfo: { name: "bench", version: "1.0.0" } };

/** A connection with a session of its own: initialized once, and named in all further requests. */
export class Session extends Connection {
  #header = "";

  static async open(port) {
    const session = new Session(port);
    await session.ready();
    const { status, head, body } = await session.send(message({ id: 0, method: "initialize", params: CLIENT }));
    const [line] = /^mcp-session-id: .*/im.exec(head) ?? [];
    if (line === undefined) throw new Error(`no session, but ${status}: ${body}`);
    session.#header = `${line}\r\n`;
    await session.send(message({ method: "notifications/initialized" }));
    return session;
  }

  send(request) {
    return super.send(request.replace("\r\n", `\r\n${this.#header}`));
  }
}

/** A request of the revision with sessions. */
export const request = (method, params = {}) => message({ id: 1, method, params });

function message(fields) {
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": VERSION,
  };
  return post("/mcp", JSON.stringify({ jsonrpc: "2.0", ...fields }), headers);
}
