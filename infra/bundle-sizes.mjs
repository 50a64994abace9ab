/** Sizes of the bundles of an esbuild build, and their largest parts. */
import { basename, dirname } from "node:path";

const LISTED = 5;

/** The package that a file belongs to; of our own, the room: `lib/contract`. */
const packageOf = (file) => {
  const inModules = file.split("node_modules/").at(-1);
  const parts = inModules.split("/");
  const isShort = inModules !== file && !inModules.startsWith("@");
  return parts.slice(0, isShort ? 1 : 2).join("/");
};

const kilobytes = (bytes) => `${Math.round(bytes / 1000)} kB`;

const biggestOf = (inputs) => {
  const bytesOf = new Map();
  for (const [file, { bytesInOutput }] of Object.entries(inputs)) {
    const name = packageOf(file);
    bytesOf.set(name, (bytesOf.get(name) ?? 0) + bytesInOutput);
  }
  return [...bytesOf]
    .sort(([, a], [, b]) => b - a)
    .slice(0, LISTED)
    .map(([name, bytes]) => `${name} ${kilobytes(bytes)}`)
    .join(", ");
};

/** Bundles by the folders that they stand in: a function's name. */
const bundlesOf = ({ outputs }) =>
  new Map(
    Object.entries(outputs)
      .filter(([file]) => file.endsWith(".mjs"))
      .map(([file, output]) => [basename(dirname(file)), output]),
  );

/**
 * What is wrong with the sizes, a line each.
 * @param metafile of a build
 * @param budgets bytes by the function's name
 */
export const overBudget = (metafile, budgets) => {
  const bundles = bundlesOf(metafile);
  const unknown = Object.keys(budgets).filter((name) => !bundles.has(name));
  return [
    ...unknown.map((name) => `${name}: there is a budget for it, and no such function`),
    ...[...bundles].flatMap(([name, { bytes, inputs }]) => {
      const budget = budgets[name];
      if (budget === undefined) return [`${name}: it has no budget`];
      if (bytes <= budget) return [];
      const size = `${kilobytes(bytes)}, ${bytes - budget} bytes over its budget of ${kilobytes(budget)}`;
      return [`${name}: ${size}; the most of it is ${biggestOf(inputs)}`];
    }),
  ];
};

/** A line for each bundle: where it is, and how large. */
export const sizesOf = ({ outputs }) =>
  Object.entries(outputs)
    .filter(([file]) => file.endsWith(".mjs"))
    .map(([file, { bytes }]) => `${file} ${kilobytes(bytes)}`);
