/** The files that functions import, beside those of which `wrangler types` writes the types. */
declare module "*.md" {
  const text: string;
  export default text;
}
