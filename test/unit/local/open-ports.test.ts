import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { startSkyhook } from "../../support/skyhook-process.ts";

/** `host` may be the name of the address. */
const endpointSchema = z.object({
  host: z.string(),
  ip4: z.string().optional(),
  port: z.number(),
});
const reportSchema = z.object({
  libuv: z.array(
    z.looseObject({
      type: z.string(),
      localEndpoint: endpointSchema.nullish(),
      remoteEndpoint: endpointSchema.nullish(),
    }),
  ),
});

/** Node's own list of what the process has open, which it writes at this signal. */
const reportOf = async (program: ReturnType<typeof startSkyhook>, folder: string) => {
  program.child.kill("SIGUSR2");
  await program.printed("Node.js report completed");
  const [name = ""] = (await readdir(folder)).filter((each) => each.endsWith(".json"));
  return reportSchema.parse(JSON.parse(await readFile(join(folder, name), "utf8")));
};

test.each([
  ["in memory", []],
  ["on disk", ["--data"]],
])("a run %s listens only on the ports of the gateway and the service", async (_where, flags) => {
  const folder = await mkdtemp(join(tmpdir(), "skyhook-ports-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const options = flags.flatMap((flag) => [flag, join(folder, "data")]);
  const program = startSkyhook(["start", "--no-demo", ...options], {
    NODE_OPTIONS: `--report-on-signal --report-directory=${folder}`,
  });
  await program.printed("What can be sent");

  const { libuv } = await reportOf(program, folder);
  program.child.kill("SIGTERM");
  await program.ended();

  // A socket of a client that is about to close has neither address.
  const listening = libuv.flatMap(({ type, localEndpoint: at, remoteEndpoint }) =>
    type === "tcp" && at && !remoteEndpoint ? [`http://${at.ip4 ?? at.host}:${at.port}`] : [],
  );
  const [, gateway] = /listens at (\S+)/.exec(program.stderr()) ?? [];
  const [, service] = /provider: (\S+)/.exec(program.stderr()) ?? [];
  expect(listening.toSorted()).toEqual([gateway, service].toSorted());
});
