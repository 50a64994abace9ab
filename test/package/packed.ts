import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import * as z from "zod";

declare module "vitest" {
  export interface ProvidedContext {
    /** The packed package, and a folder with nothing but its installation. */
    readonly packed: { readonly tarball: string; readonly bytes: number; readonly folder: string };
  }
}

/** A file that an earlier build could have left in each packed folder of dist/. */
export const LEFT_OVER = "left-over.mjs";
const FOLDERS = ["chunks", "console", "docs", "exports", "functions", "infra", "sources", "types"];

const packReport = z.tuple([z.object({ filename: z.string(), size: z.int() })]);

/** Packs once for all files, as a release does, and installs the tarball in an empty folder. */
export default function setup(project: TestProject): () => void {
  const root = mkdtempSync(join(tmpdir(), "skyhook-package-"));
  const folder = join(root, "consumer");
  mkdirSync(folder);
  for (const name of FOLDERS) {
    mkdirSync(join("dist", name), { recursive: true });
    writeFileSync(join("dist", name, LEFT_OVER), "");
  }
  const output = execFileSync("npm", ["pack", "--json", "--pack-destination", root], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
  // The build of `prepack` prints lines before the report.
  const [{ filename, size }] = packReport.parse(JSON.parse(output.slice(output.search(/^\[$/m))));
  const tarball = join(root, filename);
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
  execFileSync("npm", ["install", "--no-audit", "--no-fund", tarball], {
    cwd: folder,
    stdio: ["ignore", "ignore", "pipe"],
  });
  project.provide("packed", { tarball, bytes: size, folder });
  return () => rmSync(root, { recursive: true, force: true });
}
