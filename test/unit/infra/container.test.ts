import { execFile } from "node:child_process";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { serve } from "../../../lib/service/serve.ts";

/*
 * The image without a container. `npm run test:image` runs it in one.
 */

const run = promisify(execFile);

const read = (path: string) => readFile(resolve(path), "utf8");

const manifest = async () =>
  z
    .object({ engines: z.object({ node: z.string() }), files: z.array(z.string()) })
    .parse(JSON.parse(await read("package.json")));

const temporaryFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), "skyhook-container-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
};

test("every stage of the image has one Node, pinned by digest, that package.json supports", async () => {
  const text = await read("infra/Dockerfile");
  const [, version = ""] =
    /^ARG NODE_IMAGE=\S+\/node:(\d+\.\d+\.\d+)-\S+-slim@sha256:[0-9a-f]{64}$/m.exec(text) ?? [];
  const [, oldest = ""] = /^>=([\d.]+)$/.exec((await manifest()).engines.node) ?? [];

  const sources = [...text.matchAll(/^FROM (\S+)/gm)].map(([, source]) => source);
  expect(new Set(sources)).toEqual(new Set([`\${NODE_IMAGE}`]));
  expect(version.localeCompare(oldest, "en", { numeric: true })).toBeGreaterThanOrEqual(0);
});

test("the build gets every file that the npm package contains", async () => {
  const allowed = (await read(".dockerignore")).split("\n");
  const { files } = await manifest();
  const folders = new Set(files.map((file) => file.split("/", 1)[0]));
  // The build writes it.
  folders.delete("dist");

  expect(allowed).toEqual(expect.arrayContaining([...folders].map((folder) => `!${folder}`)));
});

describe("the entry point", () => {
  const argumentsFor = async (...args: readonly string[]): Promise<readonly string[]> => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, "skyhook"), `#!/bin/sh\nfor one; do echo "$one"; done\n`);
    await chmod(join(folder, "skyhook"), 0o755);
    const env = { PATH: `${folder}:${process.env.PATH}` };
    const { stdout } = await run(resolve("infra/container/entrypoint.sh"), args, { env });
    return stdout.split("\n").slice(0, -1);
  };

  test.each([
    ["service", "8080"],
    ["start", "4747"],
  ])(
    "lets %s listen at every address, at a known port, before the options given",
    async (verb, port) => {
      expect(await argumentsFor(verb, "--port", "9000", "--data", "a folder")).toEqual([
        ...[verb, "--listen", "0.0.0.0", "--port", port],
        ...["--port", "9000", "--data", "a folder"],
      ]);
    },
  );

  test("changes no other verb, and no argument called like one", async () => {
    expect(await argumentsFor("status", "start")).toEqual(["status", "start"]);
    expect(await argumentsFor()).toEqual([]);
  });
});

describe("the health check", () => {
  /** Its exit status and messages for a command line of process 1. */
  const checkFor = async (...commandLine: readonly string[]) => {
    const file = join(await temporaryFolder(), "cmdline");
    await writeFile(file, `${commandLine.join("\0")}\0`);
    const ended = run(process.execPath, [resolve("infra/container/health.mjs"), file]);
    return ended.then(
      () => ({ status: 0, message: "" }),
      ({ code, stderr }) => ({ status: code, message: stderr }),
    );
  };

  const serveOnce = async () => {
    const handled: Request[] = [];
    const refused: Request[] = [];
    const served = await serve(
      {
        fetch: async (request) => {
          handled.push(request);
          return new Response();
        },
        refuseHost: (request) => {
          refused.push(request);
          return new Response(null, { status: 403 });
        },
        refuseUnreadable: () => new Response(null, { status: 400 }),
      },
      0,
    );
    onTestFinished(() => served.close());
    return { port: new URL(served.url).port, handled, refused };
  };

  test.each([
    ["the last --port", (port: string) => ["service", "--port", "1", "--port", port]],
    ["--port=", (port: string) => ["start", "--port", "1", `--port=${port}`]],
  ])("asks the server at %s, and the server handles no request", async (_, lineFor) => {
    const { port, handled, refused } = await serveOnce();

    const check = await checkFor("node", "/usr/local/bin/skyhook", ...lineFor(port));

    expect(check).toEqual({ status: 0, message: "" });
    expect([handled.length, refused.length]).toEqual([0, 1]);
  });

  test("fails with the port when no server answers", async () => {
    expect(await checkFor("skyhook", "service", "--port", "1")).toEqual({
      status: 1,
      message: expect.stringMatching(/^port 1: .*ECONNREFUSED/),
    });
  });

  test("succeeds for a verb without a server", async () => {
    expect(await checkFor("skyhook", "list")).toEqual({ status: 0, message: "" });
  });
});
