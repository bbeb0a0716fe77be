//! The Worker that is deployed: this catalogue, served on Cloudflare. Its configuration is
//! `wrangler.toml`; the fetch event itself is in `crates/toolbooth-worker/js/entry.js`.

toolbooth_worker::serve!(toolbooth_tools::CATALOG);
