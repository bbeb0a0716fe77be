import { tool } from "toolbooth";
import type { Input, Output } from "./private.types.js";

export default tool<Input, Output>(async ({ refuse }, context) => {
  if (refuse) throw context.tokenRefused("github");
  const secrets = [context.secret("PIN"), context.secret("PLATFORM_KEY")];
  return { user: context.user, token: context.token("github"), secrets, city: context.variable("SCRIPT_CITY") };
});
