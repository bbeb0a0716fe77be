/** The OAuth providers whose addresses the Worker knows, with their titles: those of crates/toolbooth-sign-in/src/oauth/presets.rs. */
export const PRESETS = { github: "GitHub", google: "Google", slack: "Slack", notion: "Notion", linear: "Linear", atlassian: "Atlassian" };
