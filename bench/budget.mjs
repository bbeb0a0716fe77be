// Limits for the size of the Worker (gzip -9 of all modules, in KB of 1,000 bytes) and for its startup time.

export const BUDGET = {
  /** All tools and all features: 275 for the engine, 25 for hints and the log, 140 for the chat gateway. */
  everything: 440,
  /** The calculator with only MCP. */
  mcp: 170,
  /** From the start of workerd to the first response, as a ratio to the echo Worker. */
  start: 1.5,
};
