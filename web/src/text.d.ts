// Texts that the build bundles.
declare module "*.toml" {
  const text: string;
  export default text;
}
