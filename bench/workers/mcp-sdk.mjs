// MCP by the protocol's own package for servers.
import { createMcpHandler } from "@modelcontextprotocol/server";
import { createServer } from "factory";

const { fetch } = createMcpHandler(createServer);

export default { fetch: (request) => fetch(request) };
