// An MCP server with Cloudflare's package, as documented.
import { createMcpHandler } from "agents/mcp/server";
import { createServer } from "factory";

const handler = createMcpHandler(createServer);

export default { fetch: (request, env, context) => handler(request, env, context) };
