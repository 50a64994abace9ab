import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, inject, it } from "vitest";
import { LEFT_OVER } from "./packed.ts";

const { tarball, bytes, folder } = inject("packed");

const MAX_TARBALL_BYTES = 5_000_000;
const MAX_INSTALLED_MB = 32;
const MAX_PACKAGES = 39;
/** Reading a file takes a call of the command line up to 1 ms. */
const MAX_FILES_OF_A_CALL = 8;

/** An import in a minified module. */
const STATIC_IMPORT = /(?:\bfrom|\bimport)"(\.[^"]+)"/g;

/** Space that a folder takes on the disk, as `du` counts it. */
const diskBytes = (path: string): number => {
  const stats = lstatSync(path);
  const own = stats.blocks * 512;
  if (!stats.isDirectory()) return own;
  return readdirSync(path).reduce((sum, name) => sum + diskBytes(join(path, name)), own);
};

const installedPackages = (): readonly string[] => {
  const lock = JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8"));
  return Object.keys(lock.packages).filter((path) => path !== "");
};

/** Files of the installed package that a module imports, except on demand, with itself. */
const loadedBy = (module: string, loaded = new Set<string>()): ReadonlySet<string> => {
  if (loaded.has(module)) return loaded;
  loaded.add(module);
  for (const [, path = ""] of readFileSync(module, "utf8").matchAll(STATIC_IMPORT)) {
    loadedBy(join(dirname(module), path), loaded);
  }
  return loaded;
};

describe("the packed package", () => {
  it("has at most 5 MB", () => {
    expect(bytes).toBeLessThanOrEqual(MAX_TARBALL_BYTES);
  });

  it("takes at most 32 MB and 39 packages when installed", () => {
    const megabytes = diskBytes(join(folder, "node_modules")) / 2 ** 20;
    const packages = installedPackages();
    process.stdout.write(
      `tarball ${(bytes / 1e6).toFixed(2)} MB, installed ${megabytes.toFixed(1)} MB in ${packages.length} packages\n`,
    );
    expect(megabytes).toBeLessThanOrEqual(MAX_INSTALLED_MB);
    expect(packages.length).toBeLessThanOrEqual(MAX_PACKAGES);
  });

  it.each(["list", "send"])("loads at most 8 files for a call of %s", (verb) => {
    const dist = join(folder, "node_modules", "skyhook", "dist");
    const chunks = join(dist, "chunks");
    const ofVerb = new RegExp(`^${verb}-[A-Z0-9]{8}\\.mjs$`);
    const [entry = ""] = readdirSync(chunks).filter((file) => ofVerb.test(file));

    const loaded = loadedBy(join(dist, "skyhook.mjs"));
    const files = new Set([...loaded, ...loadedBy(join(chunks, entry))]);

    expect(files.size).toBeLessThanOrEqual(MAX_FILES_OF_A_CALL);
    // The scan has followed imports: the program alone loads a chunk with commander.
    expect(loaded.size).toBeGreaterThan(1);
  });

  it("contains nothing that an earlier build has left in dist", () => {
    const dist = join(folder, "node_modules", "skyhook", "dist");
    const files = readdirSync(dist, { recursive: true, encoding: "utf8" });

    expect(files.filter((file) => file.endsWith(LEFT_OVER))).toEqual([]);
  });

  it("passes publint", () => {
    const run = spawnSync("npx", ["publint", "run", tarball, "--strict"], { encoding: "utf8" });
    expect(run.stdout + run.stderr).toContain("All good!");
  });

  it("has types that arethetypeswrong finds nothing wrong with", () => {
    const run = spawnSync("npx", ["attw", tarball, "--profile", "esm-only"], { encoding: "utf8" });
    expect({ status: run.status, output: run.status === 0 ? "" : run.stdout }).toEqual({
      status: 0,
      output: "",
    });
  });

  it("contains every file that its exports and declaration maps name", () => {
    const root = join(folder, "node_modules", "skyhook");
    const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    for (const target of Object.values<string | Record<string, string>>(exports)) {
      for (const path of typeof target === "string" ? [target] : Object.values(target)) {
        // A pattern such as `schemas/*` is checked as its folder.
        expect(existsSync(join(root, path.replace(/\*.*$/, "")))).toBe(true);
      }
    }
    const types = join(root, "dist", "types");
    const maps = readdirSync(types, { recursive: true, encoding: "utf8" }).filter((file) =>
      file.endsWith(".map"),
    );
    expect(maps).not.toEqual([]);
    for (const map of maps) {
      const { sources } = JSON.parse(readFileSync(join(types, map), "utf8"));
      for (const source of sources) {
        expect(lstatSync(join(types, map, "..", source)).isFile()).toBe(true);
      }
    }
  });
});

describe("npx skyhook in an empty folder", () => {
  const environment = { ...process.env, XDG_STATE_HOME: join(folder, "state"), NO_COLOR: "1" };
  const skyhook = (...parameters: string[]) =>
    execFileSync("npx", ["--no-install", "skyhook", ...parameters], {
      cwd: folder,
      encoding: "utf8",
      env: environment,
      stdio: ["ignore", "pipe", "pipe"],
    });

  it("prints its help", () => {
    expect(skyhook("--help")).toMatch(/^Usage: skyhook/);
  });

  it("runs the service, which answers until it is stopped", async () => {
    const child = spawn("npx", ["--no-install", "skyhook", "service", "--api-key", "local-key"], {
      cwd: folder,
      env: environment,
      // A group of its own, because npx starts a shell.
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const ended = once(child, "close");
    let output = "";
    const url = await new Promise<string>((resolve, reject) => {
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding("utf8").on("data", (chunk) => {
          output += chunk;
          const found = /http:\/\/127\.0\.0\.1:\d+/.exec(output);
          if (found) resolve(found[0]);
        });
      }
      child.on("close", () => reject(new Error(output)));
    });
    const headers = { authorization: "apikey local-key" };
    const response = await fetch(`${url}/cloud/v1/lifecycle_policy/1234567/76/1`, { headers });
    const page = await fetch(`${url}/docs`);
    process.kill(-(child.pid ?? 0), "SIGINT");
    await ended;
    expect([response.status, page.status]).toEqual([200, 200]);
    await expect(fetch(url)).rejects.toThrow();
  });

  it("writes the files of a stage and packages it", () => {
    skyhook("init");
    skyhook("package", "--stage", "dev");
    const written = readdirSync(join(folder, ".skyhook"), { recursive: true, encoding: "utf8" });
    const bundles = readdirSync(join(folder, "node_modules", "skyhook", "dist", "functions"));
    for (const name of bundles) {
      expect(written.some((file) => file.includes(`${name}-`) && file.endsWith(".zip"))).toBe(true);
    }
    expect(written.filter((file) => file.endsWith(".json"))).not.toEqual([]);
  });

  it("prints the schema of an event", () => {
    expect(JSON.parse(skyhook("schema", "event", "CommandFailed"))).toMatchObject({
      type: "object",
    });
  });

  it("runs the demo to its expected end", () => {
    expect(skyhook("start", "--exit", "--json")).toContain('"CommandSucceeded"');
  });
});
