/**
 * Fewer chunks for the verbs that answer at once: reading one takes a call of the command line up to 1 ms.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";
import { BASE } from "./bundling.mjs";

/** What every call loads, then the quick verbs in this order, so that `list` loads nothing that only `send` needs. */
const QUICK = ["lib/cli/program.ts", "lib/cli/commands/list.ts", "lib/cli/commands/send.ts"];

/** A module and all that it imports, except on demand. */
const reachedFrom = (inputs, module, reached = new Set()) => {
  if (reached.has(module) || !inputs[module]) return reached;
  reached.add(module);
  for (const { path, kind } of inputs[module].imports) {
    if (kind !== "dynamic-import") reachedFrom(inputs, path, reached);
  }
  return reached;
};

const loadedOnDemand = (inputs) =>
  new Set(
    Object.values(inputs)
      .flatMap(({ imports }) => imports)
      .filter(({ kind, external }) => kind === "dynamic-import" && !external)
      .map(({ path }) => path),
  );

/** The modules on demand that share code with one of `QUICK`, each with all of these. */
const sharing = (inputs) => {
  const found = new Map();
  const earlier = new Set();
  for (const verb of QUICK) {
    const group = new Set([...reachedFrom(inputs, verb)].filter((module) => !earlier.has(module)));
    for (const module of group) earlier.add(module);
    for (const module of loadedOnDemand(inputs)) {
      const shares = [...reachedFrom(inputs, module)].some((each) => group.has(each));
      if (shares && !group.has(module)) found.set(module, [...(found.get(module) ?? []), verb]);
    }
  }
  return found;
};

/**
 * Options of a build in which quick verbs share few chunks. esbuild puts modules into one chunk when the same modules
 * on demand need them. So every module on demand that needs some of a verb's modules imports the verb. Our modules have
 * no side effects, so esbuild ignores these imports in its output.
 * @param {import("esbuild").BuildOptions} options of the command line alone
 * @returns {Promise<import("esbuild").BuildOptions>}
 */
export const withFewChunks = async (options) => {
  const { metafile } = await build({ ...options, metafile: true, write: false });
  const verbsOf = sharing(metafile.inputs);
  const importVerbs = {
    name: "import-quick-verbs",
    setup({ onLoad }) {
      const root = BASE.absWorkingDir;
      onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        const verbs = verbsOf.get(path.slice(root.length).replaceAll("\\", "/"));
        if (!verbs) return undefined;
        const imports = verbs.map((verb) => `\nimport ${JSON.stringify(join(root, verb))};`);
        return { contents: (await readFile(path, "utf8")) + imports.join(""), loader: "ts" };
      });
    },
  };
  return {
    ...options,
    logOverride: { "ignored-bare-import": "silent" },
    plugins: [importVerbs, ...options.plugins],
  };
};
