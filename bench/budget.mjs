// What the Worker may weigh (gzip -9 of all modules, in KB of 1,000 bytes), and how long it may take to the first answer.

export const BUDGET = {
  /** All tools and all features. */
  everything: 275,
  /** The calculator over MCP alone. */
  mcp: 170,
  /** From the start of workerd to the first answer, as a ratio to the echo Worker. */
  start: 1.5,
};
