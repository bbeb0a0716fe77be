// Sends MCP requests in exactly the form of its clients.
const VERSION = "2026-07-28";
let ids = 0;

/** Sends a request of a revision before 2026-07-28. */
export const legacy = (worker, method, params = {}, { path = "/mcp", headers } = {}) =>
  worker.post({ jsonrpc: "2.0", id: (ids += 1), method, params }, { path, headers });

/** Sends a request of 2026-07-28 with its headers; `can` has the client's capabilities. */
export function modern(worker, method, { _meta, ...params } = {}, { path = "/mcp", headers, can = {} } = {}) {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": can,
    ..._meta,
  };
  const name = params.name ?? params.uri;
  const repeated = { "mcp-protocol-version": VERSION, "mcp-method": method, ...(name && { "mcp-name": name }) };
  const body = { jsonrpc: "2.0", id: (ids += 1), method, params: { ...params, _meta: meta } };
  return worker.post(body, { path, headers: { ...repeated, ...headers } });
}
