// Limits for the size of the Worker (gzip -9 of all modules, in KB of 1,000 bytes) and for its startup time.

export const BUDGET = {
  /**
   * All tools and all capabilities: 275 for the engine, 35 for hints, the log, defaults and the store, 145 for the chat gateway, 10
   * for REST, 50 for sign-in, 25 for the account, the doctor and challenges bound to a person, 12 for entries that are rejected alone
   * and pages that name only what a person or key can call, 28 for what a person or key may do now: rules at every call, questions to
   * providers, limits of models, tokens and members, 24 for budgets, their page and what is used exactly once, 106 for Anthropic Messages and OpenAI Responses in both directions, lists of
   * models and embeddings, 25 for skills, the registry, the search in large catalogues, a company's identity provider and shipped toolkits,
   * 65 for tasks, views, teams, machines, agents that act for people, keys of clients (DPoP), groups at sign-in and the audit,
   * 10 for responses in the background, tasks that end with the rights of their caller, and views with permissions, 6 more for
   * code that is built for speed (36) and tasks in every Worker (25), less what simpler code has saved (58), and 6 for images in results
   * that continue a round, embeddings within the deadline, targets that a caller has a key for, and events of more providers, and
   * 90 for what models and providers accept as data, requests that are repeated without a member, schemas that become wider, pictures and
   * sounds in answers, reasoning that goes back, and answers of compatible providers in any shape, and 14 for events of MCP that
   * are sent while a tool runs, headers that are lists, mailboxes, errors of unions, limits of time for functions in TypeScript, and schemas that
   * refer to themselves, and 22 for the server's own grants at services, tools that ask for a sign-in, the server card, what providers of sign-in
   * leave out, and what strangers send through the gateway.
   */
  everything: 945,
  /**
   * The calculator with only MCP: 170 for the engine, 50 for hints, the log, defaults, the store, the doctor and entries that are
   * rejected alone, 35 for teams, the audit, views, skills, DPoP and functions in TypeScript, 13 for code that is built for speed, and 12 for
   * events that are sent while a tool runs, headers that are lists, mailboxes, errors of unions and limits of time, and 13 for tools that ask for a sign-in and
   * the server card.
   */
  mcp: 293,
  /** The calculator without any capability: what a capability needs, and this Worker does not have, would be in it if it were linked. */
  none: 212,
  /**
   * From the start of workerd to the first response, as a ratio to the echo Worker. It was 1.9 where workerd starts in 19 ms. Where it starts in
   * 15, the same bundle has 1.90 to 1.98, because the bytes of the WebAssembly take as long.
   */
  start: 2,
};
