/** What the benchmark of load times compares, beside the functions: a floor for each, and nothing. */
import { mkdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { build } from "esbuild";
import { BASE, FOR_LAMBDA, FUNCTIONS } from "./bundling.mjs";

const CLIENT = /@aws-sdk\/(client-[a-z0-9-]+)\/dist-es\/(\w+Client)\.js$/;

/** The AWS clients in a bundle: `S3Client` of `client-s3`. */
const clientsIn = (inputs) =>
  Object.keys(inputs)
    .map((file) => CLIENT.exec(file))
    .filter((match) => match !== null)
    .map(([, folder, client]) => ({ from: `@aws-sdk/${folder}`, client }));

/** A handler that could ask AWS as the function can, and does nothing. */
const floorOf = (inputs) => {
  const clients = clientsIn(inputs);
  const imports = clients.map(({ client, from }) => `import { ${client} } from "${from}";`);
  const made = clients.map(({ client }) => `new ${client}()`);
  return `${imports.join("\n")}\nexport const handler = async () => [${made.join(", ")}];`;
};

/** Makes `functions/NAME/handler.mjs`, `floors/NAME/handler.mjs` and `bare/handler.mjs`. */
export const buildLoadBundles = async (folder) => {
  const { metafile } = await build({ ...FUNCTIONS, outdir: join(folder, "functions") });
  for (const [file, { inputs }] of Object.entries(metafile.outputs)) {
    if (!file.endsWith(".mjs")) continue;
    const { outExtension: _, ...options } = FOR_LAMBDA;
    await build({
      ...options,
      stdin: { contents: floorOf(inputs), resolveDir: BASE.absWorkingDir },
      outfile: join(folder, "floors", basename(dirname(file)), "handler.mjs"),
    });
  }
  mkdirSync(join(folder, "bare"), { recursive: true });
  writeFileSync(join(folder, "bare", "handler.mjs"), "export const handler = async () => {};\n");
};
