import { tool, ToolError } from "toolbooth";
import type { Input, Output } from "./greet.types.js";

export default tool<Input, Output>(({ name, greeting, marks = 0 }) => {
  if (name.trim() === "") throw new ToolError("The name is blank", { prompt: "Ask for the name." });
  return `${greeting}, ${name}${"!".repeat(marks)}`;
});
