// An MCP server with the official server package.
import { createMcpHandler } from "@modelcontextprotocol/server";
import { createServer } from "factory";

const { fetch } = createMcpHandler(createServer);

export default { fetch: (request) => fetch(request) };
