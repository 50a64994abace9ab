import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import * as z from "zod";

const read = async <T>(name: string, schema: z.ZodType<T>): Promise<T> =>
  schema.parse(JSON.parse(await readFile(new URL(`../../../${name}`, import.meta.url), "utf8")));

const lockSchema = z.object({
  packages: z.record(z.string(), z.object({ hasInstallScript: z.boolean().optional() })),
});

test("package.json allows or denies every install script of a dependency, and names no other package", async () => {
  const { packages } = await read("package-lock.json", lockSchema);
  const { allowScripts } = await read(
    "package.json",
    z.object({ allowScripts: z.record(z.string(), z.boolean()) }),
  );

  const withScript = Object.entries(packages)
    .filter(([path, { hasInstallScript }]) => path !== "" && hasInstallScript)
    .map(([path]) => path.replace(/^.*node_modules\//, ""));
  // npm matches a name with a version only if the lock file has the URL of the package.
  expect(Object.keys(allowScripts).sort()).toEqual([...new Set(withScript)].sort());
});
