/** What a report of `npm audit` means for what ships. */

const FAILING = ["high", "critical"];

/** The packages whose code is in the bundles of the functions. */
export const bundledPackages = ({ outputs }) =>
  new Set(
    Object.values(outputs)
      .flatMap(({ inputs }) => Object.entries(inputs))
      .filter(([file, { bytesInOutput }]) => bytesInOutput > 0 && file.includes("node_modules/"))
      .map(([file]) => {
        const [scope, name] = file.split("node_modules/").at(-1).split("/");
        return scope.startsWith("@") ? `${scope}/${name}` : scope;
      }),
  );

/**
 * @param report of `npm audit --omit=dev --json`
 * @param bundled packages in the bundles of the functions
 * @returns a line for each package with a known weakness and where it ships; whether one of them is
 * reason enough to stop; undefined where the registry has not told
 */
export const findingsOf = ({ vulnerabilities }, bundled) => {
  if (vulnerabilities === undefined) return undefined;
  const found = Object.values(vulnerabilities);
  return {
    lines: found.map(({ name, severity, range }) => {
      const place = bundled.has(name)
        ? "in the functions and the command line"
        : "in the command line";
      return `${severity}: ${name} ${range}, ${place}`;
    }),
    isFailure: found.some(({ severity }) => FAILING.includes(severity)),
  };
};
