import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readSeed } from "../../../lib/service/seed.ts";
import { BUILT_IN_API_KEYS } from "../../../lib/service/state/keys.ts";
import { runSkyhook, startSkyhook } from "../../support/skyhook-process.ts";

let directory: string;
let printed: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "skyhook-service-"));
  printed = (await runSkyhook(["service", "--print-seed"])).stdout;
});
afterAll(() => rm(directory, { recursive: true }));

const fileOf = async (name: string, text: string): Promise<string> => {
  const path = join(directory, name);
  await writeFile(path, text);
  return path;
};

const statusOf = async (url: string, apiKey: string): Promise<number> => {
  const response = await fetch(url, { headers: { authorization: `apikey ${apiKey}` } });
  await response.arrayBuffer();
  return response.status;
};

/** Reads the API description, which needs no key, under a host name. */
const statusAs = (baseUrl: string, host: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    request(`${baseUrl}/openapi.json`, { headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .once("error", reject)
      .end();
  });

describe("skyhook service", () => {
  it.concurrent("prints a state that --seed accepts, and nothing else", () => {
    expect(readSeed(printed).containers.map(({ name }) => name)).toEqual([
      "my-container",
      "my-nginx",
    ]);
  });

  it.concurrent("starts with a seed, an API key and a rate limit, and does not print the key", async () => {
    const seed = JSON.parse(printed);
    seed.containers[0].name = "from-the-seed";
    const path = await fileOf("seed.json", JSON.stringify(seed));
    const own = ["--api-key", "own-key-hush", "--allow-host", "a.internal,b.internal"];
    const args = ["--seed", path, "--rate-limit", "3", ...own];
    const service = startSkyhook(["service", ...args]);
    await service.printed("the service listens at this address");
    const baseUrl = service.stdout().trim();
    const containers = `${baseUrl}/cloud/v1/caas/1234567/76/containers`;

    const answers = [
      await statusOf(`${containers}/from-the-seed`, "own-key-hush"),
      await statusOf(`${containers}/my-container`, "own-key-hush"),
      await statusOf(`${containers}/from-the-seed`, "wrong"),
    ];
    const burst = await Promise.all(
      Array.from({ length: 6 }, () => statusOf(containers, "own-key-hush")),
    );
    const named = [
      await statusAs(baseUrl, "b.internal:80"),
      await statusAs(baseUrl, "evil.example"),
    ];
    service.child.kill("SIGTERM");

    expect(await service.ended()).toBe(0);
    expect(named).toEqual([200, 403]);
    expect(answers).toEqual([200, 404, 401]);
    expect(burst).toContain(429);
    expect(service.stdout() + service.stderr()).not.toContain("own-key-hush");
  });

  it.concurrent("opens to other machines with a key of its own only", async () => {
    const service = startSkyhook(["service", "--listen", "0.0.0.0"]);
    await service.printed("npx skyhook read");
    const [, own = ""] = /SKYHOOK_API_KEY='(.*)'/.exec(service.stderr()) ?? [];
    const tasks = `${service.stdout().trim()}/cloud/v1/tasks`;

    const answers = [
      await statusOf(tasks, own),
      await statusOf(tasks, BUILT_IN_API_KEYS.first),
      await statusOf(tasks, BUILT_IN_API_KEYS.second),
    ];
    service.child.kill("SIGTERM");

    expect(await service.ended()).toBe(0);
    expect(tasks).toMatch(/^http:\/\/127\.0\.0\.1:\d+\//);
    expect(answers).toEqual([200, 401, 401]);
    expect(service.stderr()).toContain("Listens at 0.0.0.0: other machines may reach it");
  });

  it.concurrent("reports the problems of a seed and of the other settings", async () => {
    const seed = JSON.parse(printed);
    seed.instances[0].status = "SLEEPING";
    seed.routers[0].task_id = 7;
    const wrong = await fileOf("wrong.json", JSON.stringify(seed));

    const [state, missing, settings] = await Promise.all([
      runSkyhook(["service", "--seed", wrong]),
      runSkyhook(["service", "--seed", join(directory, "nowhere.json")]),
      runSkyhook([
        "service",
        "--rate-limit",
        "0",
        "--api-key",
        "two words",
        "--allow-host",
        "http://a",
        "--listen",
        "localhost",
      ]),
    ]);

    expect([state.exitCode, missing.exitCode, settings.exitCode]).toEqual([2, 2, 2]);
    expect(state.stderr).toMatch(/is not a state of the service; --print-seed prints a valid one:/);
    expect(state.stderr).toMatch(/^ {2}instances\.0\.status: one of ACTIVE, /m);
    expect(state.stderr).toMatch(/^ {2}routers\.0\.task_id: a string$/m);
    expect(missing.stderr).toContain("nowhere.json (ENOENT)");
    expect(settings.stderr).toContain("--rate-limit: at least 1");
    expect(settings.stderr).toContain("--api-key: a key without spaces or line breaks");
    expect(settings.stderr).toContain("--allow-host: host names such as cloud.internal");
    expect(settings.stderr).toContain("--listen: an IP address of this machine, such as 0.0.0.0");
    expect(settings.stderr).not.toContain("two words");
  });

  it.concurrent("keeps the state of a data directory, and refuses a seed for it", async () => {
    const data = join(directory, "data");
    const keyless = await fileOf(
      "keyless.json",
      JSON.stringify({ ...JSON.parse(printed), keys: [] }),
    );
    const runOn = async (...args: string[]) => {
      const service = startSkyhook(["service", "--data", data, ...args]);
      await service.printed("npx skyhook read");
      service.child.kill("SIGTERM");
      await service.ended();
      return service.stderr();
    };

    const first = await runOn("--seed", keyless);
    const again = await runOn();
    const otherSeed = await runSkyhook(["service", "--data", data, "--seed", keyless]);

    // The state has no key, so none is printed.
    expect(first + again).not.toContain("SKYHOOK_API_KEY");
    expect(otherSeed.exitCode).toBe(2);
    expect(otherSeed.stderr).toMatch(
      /already has a state; start without --seed, or use another folder/,
    );
  });
});
