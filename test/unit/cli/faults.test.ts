import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BUILT_IN_API_KEYS } from "../../../lib/service/state/keys.ts";
import { runSkyhook, startSkyhook } from "../../support/skyhook-process.ts";

let stateHome: string;
beforeAll(async () => {
  stateHome = await mkdtemp(join(tmpdir(), "skyhook-faults-"));
});
afterAll(() => rm(stateHome, { recursive: true }));

const POLICY = ["--project-id", "1234567", "--region-id", "76", "--policy-id", "1"];

describe("skyhook service with faults", () => {
  it.concurrent("announces them, and its clients see them", async () => {
    const service = startSkyhook([
      "service",
      ...["--fault", "get-policy=reset:1x", "--fault", "get-policy=throttled:50%,retry-after=7s"],
      ...["--latency", "1ms..2ms", "--fault-seed", "42"],
    ]);
    await service.printed("the service listens at this address");
    const url = `${service.stdout().trim()}/cloud/v1/lifecycle_policy/1234567/76/1`;
    const headers = { authorization: `apikey ${BUILT_IN_API_KEYS.first}` };

    await expect(fetch(url, { headers })).rejects.toMatchObject({ cause: { code: "ECONNRESET" } });
    const statuses = new Set<number>();
    for (let sent = 0; sent < 20; sent += 1) statuses.add((await fetch(url, { headers })).status);
    service.child.kill("SIGTERM");

    expect(await service.ended()).toBe(0);
    expect(statuses).toEqual(new Set([200, 429]));
    expect(service.stderr()).toContain(
      [
        "Faults are active (seed 42), so requests to the service fail on purpose:",
        "  get-policy=reset:1x,when=before-effect   the next request",
        "  get-policy=throttled:50%,retry-after=7s  50 % of the requests",
        "  latency of every request: 1 to 2 ms",
      ].join("\n"),
    );
  });

  it.concurrent("ends at once while a request is delayed", async () => {
    const service = startSkyhook(["service", "--fault", "get-policy=slow,delay=600s"]);
    await service.printed("the service listens at this address");
    const url = `${service.stdout().trim()}/cloud/v1/lifecycle_policy/1234567/76/1`;
    const headers = { authorization: `apikey ${BUILT_IN_API_KEYS.first}` };
    const answer = fetch(url, { headers }).catch((error: Error) => error.message);
    // A second connection is served after the first one, so the delayed request has arrived.
    await fetch(`${service.stdout().trim()}/openapi.json`);

    service.child.kill("SIGTERM");

    expect([await service.ended(), await answer]).toEqual([0, "fetch failed"]);
  });

  it.concurrent("says nothing about faults without any", async () => {
    const service = startSkyhook(["service"]);
    await service.printed("the service listens at this address");
    service.child.kill("SIGTERM");
    await service.ended();

    expect(service.stderr()).not.toMatch(/fault|latency/i);
  });

  it.concurrent("refuses wrong rules, each with what to do", async () => {
    const { exitCode, stderr } = await runSkyhook([
      "service",
      ...["--fault", "update-pol=reset", "--fault", "update-pool=reset:1"],
      ...["--latency", "2", "--fault-seed", "-1"],
    ]);

    expect(exitCode).toBe(2);
    expect(stderr).toContain(
      "'update-pol=reset': unknown operation \"update-pol\"; did you mean update-pool?",
    );
    expect(stderr).toContain("'update-pool=reset:1': \"1\" could be a count or a probability");
    expect(stderr).toContain("--latency: a duration with its unit such as 200ms or 2s");
    expect(stderr).toContain("--fault-seed: a whole number");
  });
});

describe("an unknown outcome made by hand, as docs/faults.md says", () => {
  it.concurrent("is checked at the provider and resolved", async () => {
    const run = startSkyhook(
      ["start", "--no-demo", "--port", "0", "--fault", "update-policy=lost-reply-after"],
      { XDG_STATE_HOME: stateHome },
    );
    await run.printed("End: Ctrl-C");
    const exported = (name: string) =>
      new RegExp(`export ${name}='?([^'\\n]+)`).exec(run.stderr())?.[1] ?? "";
    const environment = {
      XDG_STATE_HOME: stateHome,
      SKYHOOK_BASE_URL: exported("SKYHOOK_BASE_URL"),
      SKYHOOK_API_KEY: exported("SKYHOOK_API_KEY"),
    };
    const skyhook = (...args: string[]) => runSkyhook(args, environment);

    const status = ["--status", "paused", "--id", "pause-1", "--deadline", "6s", "--wait"];
    const sent = await skyhook("send", "update-policy", ...POLICY, ...status);
    const read = await skyhook("read", "get-policy", ...POLICY);
    const resolved = await skyhook("resolve", "pause-1", "--applied", "--note", "it is paused");
    const after = await skyhook("status", "pause-1");
    run.child.kill("SIGTERM");
    await run.ended();

    expect(run.stderr()).toContain("Faults are active (seed 1)");
    expect([sent.exitCode, sent.stdout]).toEqual([1, expect.stringContaining("(unknown-outcome)")]);
    expect(read.stdout).toContain("status: paused");
    expect(resolved.stdout).toContain("pause-1 is resolved: it took effect");
    expect(after.stdout).toContain("(it is paused)");
    expect(run.stdout()).toContain("resolved: it took effect, it is paused");
  });
});
