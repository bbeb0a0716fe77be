// The names of functions of tools.

/** `CreateIssue` is `create_issue`, `GetURL` is `get_url`: the same as in toolbooth-build. */
export function snakeCase(name) {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1_$2")
    .toLowerCase();
}
