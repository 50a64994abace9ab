import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openDataDirectory } from "../../../lib/local/data-directory.ts";
import { openProvider, type Provider } from "../../../lib/local/provider.ts";
import { createSystemClock, createSystemRandom } from "../../../lib/platform/system.ts";
import { BUILT_IN_API_KEYS } from "../../../lib/service/state/keys.ts";
import type { State } from "../../../lib/service/state/state.ts";
import { builtInState } from "../../../lib/service/state/state.ts";
import { silentLog } from "../../support/logs.ts";

let parent: string;
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), "skyhook-keys-"));
});
afterEach(() => rm(parent, { recursive: true }));

const clock = createSystemClock();
const random = createSystemRandom();

const openOn = async (folder: string | undefined, seed?: State): Promise<Provider> => {
  const data = folder && (await openDataDirectory(join(parent, folder), random));
  return openProvider(
    { kind: "embedded", port: 0, taskDurationMs: 10, seed },
    { clock, random, log: silentLog, data: data || undefined, failing: new AbortController() },
  );
};

const statusOf = async ({ baseUrl }: Provider, apiKey: string | undefined): Promise<number> => {
  const headers = { authorization: `apikey ${apiKey}` };
  const response = await fetch(`${baseUrl}/cloud/v1/tasks`, { headers });
  await response.arrayBuffer();
  return response.status;
};

const published = Object.values(BUILT_IN_API_KEYS);

it("differs between data directories, stays the same in each, and replaces the published key", async () => {
  const first = await openOn("a");
  const statuses = await Promise.all(
    [first.builtInKey, ...published].map((key) => statusOf(first, key)),
  );
  await first.close();
  const again = await openOn("a");
  await again.close();
  const other = await openOn("b");
  await other.close();

  expect(statuses).toEqual([200, 401, 401]);
  expect(first.builtInKey).toMatch(/^2001_[0-9a-f]{32}$/);
  expect(again.builtInKey).toBe(first.builtInKey);
  expect(other.builtInKey).not.toBe(first.builtInKey);
});

it("replaces the published key in a seeded state", async () => {
  const provider = await openOn("a", builtInState());

  const statuses = await Promise.all(
    [provider.builtInKey, ...published].map((key) => statusOf(provider, key)),
  );
  await provider.close();

  expect(statuses).toEqual([200, 401, 401]);
});

it("derives from a secret that only the folder's owner can read", async () => {
  const { builtInKey = "", close } = await openOn("a");
  await close();

  const mark = join(parent, "a", "skyhook.json");
  const files = (await readdir(parent, { recursive: true, withFileTypes: true })).filter((entry) =>
    entry.isFile(),
  );
  const texts = await Promise.all(
    files.map((file) => readFile(join(file.parentPath, file.name), "latin1")),
  );

  expect(builtInKey).not.toBe("");
  expect((await stat(mark)).mode & 0o777).toBe(0o600);
  expect(texts.filter((text) => text.includes(builtInKey))).toEqual([]);
});

it("is the published key for a run in memory", async () => {
  const provider = await openOn(undefined);

  const status = await statusOf(provider, BUILT_IN_API_KEYS.first);
  await provider.close();

  expect([provider.builtInKey, status]).toEqual([BUILT_IN_API_KEYS.first, 200]);
});
