import { tool } from "toolbooth";
import type { Input, Output } from "./hello.types.js";

/** Greets a person by name. */
export default tool<Input, Output>(({ name }) => {
  return `Hello, ${name}!`;
});
