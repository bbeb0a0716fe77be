//! The deployed Worker: serves the tools of `tools/`. `wrangler.toml` configures it.

toolbooth_worker::serve!(tools::CATALOG);
