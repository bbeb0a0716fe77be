// Installs the wasm-bindgen of Cargo.lock, so that builds which run at once find it.
import { wasmBindgen } from "../packages/toolbooth/src/programs.js";
import { project } from "../packages/toolbooth/src/project.js";

const { version } = await project(".");
await wasmBindgen(version("wasm-bindgen"));
