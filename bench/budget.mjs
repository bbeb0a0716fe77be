// Limits for the size of the Worker (gzip -9 of all modules, in KB of 1,000 bytes) and for its startup time.

export const BUDGET = {
  /** All tools and all features: 275 for the engine, 35 for hints, the log, defaults and the store, 140 for the chat gateway, 10 for REST, 50 for sign-in, 25 for the account, the doctor and challenges bound to a person, 5 for keys with tools of their own and for entries that are rejected alone, 7 for pages that name only what a person or key can call, warnings of misspelled names, a sentence for each state of a check, and capabilities of a Worker's own. */
  everything: 552,
  /** The calculator with only MCP: 170 for the engine, 35 for hints, the log, defaults, the store and the doctor. */
  mcp: 205,
  /** From the start of workerd to the first response, as a ratio to the echo Worker. */
  start: 2,
};
