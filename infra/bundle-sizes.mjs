/** Sizes of the bundles of an esbuild build, and their largest parts. */
import { basename, dirname } from "node:path";

const LISTED = 5;

/** The npm package of a file, or the folder of one of the sources: `lib/contract`. */
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

/** The bundles by their folder, which has the name of the function. */
const bundlesOf = ({ outputs }) =>
  new Map(
    Object.entries(outputs)
      .filter(([file]) => file.endsWith(".mjs"))
      .map(([file, output]) => [basename(dirname(file)), output]),
  );

/**
 * One line for each bundle over its size limit, and for each mismatch between bundles and limits.
 * @param metafile of an esbuild build
 * @param limits bytes by the function's name
 */
export const overLimit = (metafile, limits) => {
  const bundles = bundlesOf(metafile);
  const unknown = Object.keys(limits).filter((name) => !bundles.has(name));
  return [
    ...unknown.map(
      (name) => `${name}: no such function; remove it from SIZE_LIMITS in infra/build.mjs`,
    ),
    ...[...bundles].flatMap(([name, { bytes, inputs }]) => {
      const limit = limits[name];
      if (limit === undefined)
        return [`${name}: no size limit; add it to SIZE_LIMITS in infra/build.mjs`];
      if (bytes <= limit) return [];
      const size = `${kilobytes(bytes)}, ${bytes - limit} bytes over its limit of ${kilobytes(limit)}`;
      return [`${name}: ${size}; largest parts: ${biggestOf(inputs)}`];
    }),
  ];
};

/** One line for each bundle: path and size. */
export const sizesOf = ({ outputs }) =>
  Object.entries(outputs)
    .filter(([file]) => file.endsWith(".mjs"))
    .map(([file, { bytes }]) => `${file} ${kilobytes(bytes)}`);
