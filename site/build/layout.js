// The frame of every page.

export const escape = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

const NAVIGATION = [
  { href: "/", text: "Overview" },
  { href: "/playground", text: "Playground", needs: "playground" },
  { href: "/docs", text: "Docs" },
  { href: "/doctor", text: "Doctor" },
  { href: "/usage", text: "Usage" },
];

// A barrier over a road.
const LOGO = `<svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true" focusable="false"><path d="M5 21V5.5A1.5 1.5 0 0 1 6.5 4h0A1.5 1.5 0 0 1 8 5.5V21" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round"/><path d="M8 8.5 21 5" stroke="var(--accent)" stroke-width="3" stroke-linecap="round"/><path d="M3 21h18" stroke="currentColor" stroke-width="2" stroke-linecap="round"/></svg>`;

/**
 * A page; it may have no `script`. `current` is the address that the navigation marks; `main` and `header` are HTML. The Worker replaces
 * `data-site` with the value of SITE, `data-ways` with how callers authenticate, and https://tools.example.com with the server's address.
 */
export function layout({ title, description, current, main, style, script, header = "", wide = false }) {
  const links = NAVIGATION.map(({ href, text, needs }) => {
    const marks = [current === href && ' aria-current="page"', needs && ` data-needs="${needs}"`].filter(Boolean).join("");
    return `<a href="${href}"${marks}>${text}</a>`;
  });
  return `<!doctype html>
<html lang="en" data-site="playground" data-ways="key sign-in" data-address="https://tools.example.com">
<head>
<meta charset="utf-8">
<title>${escape(title)}</title>
<meta name="description" content="${escape(description)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="/site/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${style}">${script === undefined ? "" : `\n<script type="module" src="${script}"></script>`}
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header class="site-header">
<a class="brand" href="/">${LOGO}<span>Toolbooth</span></a>
<nav aria-label="Site">${links.join("")}</nav>
<div class="tools">${header}</div>
</header>
<main id="main"${wide ? ' class="wide"' : ""}>
${main}
</main>
</body>
</html>
`;
}
