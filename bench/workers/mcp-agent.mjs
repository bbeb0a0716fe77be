// An MCP server with Cloudflare's class for sessions: each is a Durable Object with a server of its own.
import { McpAgent } from "agents/mcp";
import { createServer } from "factory";

export class ToolAgent extends McpAgent {
  server = createServer();

  // Where tools are declared that depend on the session.
  async init() {}
}

export default ToolAgent.serve("/mcp");
