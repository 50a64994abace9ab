import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import * as z from "zod";
import { startSkyhook } from "../../support/skyhook-process.ts";

const API_KEY = "own-key";
const HEADERS = { authorization: `apikey ${API_KEY}`, "content-type": "application/json" };
const WRITERS = 4;
/** Number of answers after which a run is killed, with requests of the other writers in flight. */
const KILLS = [1, 7, 40, 120] as const;
/** Above the number of any run; ends the writers if a kill fails. */
const MAX_WRITES = 1_000;

const eventsSchema = z.object({
  reaching_used_space: z.array(z.object({ bucket_name: z.string(), bytes: z.int() })),
});

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "skyhook-service-kill-"));
});
afterAll(() => rm(directory, { recursive: true }));

const startOn = async (data: string) => {
  const service = startSkyhook(["service", "--api-key", API_KEY, "--data", data]);
  onTestFinished(() => void service.child.kill("SIGKILL"));
  await service.printed("the service listens at this address");
  const baseUrl = service.stdout().trim();
  const ask = (method: string, path: string, body?: object) =>
    fetch(`${baseUrl}/storage/notifications/v1/${path}`, {
      method,
      headers: HEADERS,
      ...(body && { body: JSON.stringify(body) }),
    });
  return {
    ask,
    bytesByBucket: async () => {
      const events = eventsSchema.parse(await (await ask("GET", "events")).json());
      return new Map(events.reaching_used_space.map((event) => [event.bucket_name, event.bytes]));
    },
    kill: () => service.child.kill("SIGKILL"),
    ended: service.ended,
  };
};

type Running = Awaited<ReturnType<typeof startOn>>;

/** Creates and changes thresholds until the service ends; reports every answered change. */
const writeUntilGone = async (
  { ask }: Running,
  bucketPrefix: string,
  answered: (bucket: string, bytes: number) => void,
): Promise<void> => {
  for (let n = 0; n < MAX_WRITES; n += 1) {
    const bucket = `${bucketPrefix}-${n}`;
    for (const [method, bytes] of [
      ["POST", 1],
      ["PUT", 2],
    ] as const) {
      const body = { name: "reaching_used_space", bucket_name: bucket, bytes };
      const response = await ask(method, "event", body).catch(() => undefined);
      if (response === undefined) return;
      expect(response.ok).toBe(true);
      answered(bucket, bytes);
    }
  }
};

it("a service that is killed during writes keeps every answered change", async () => {
  const answered = new Map<string, number>();

  for (const answersBeforeKill of KILLS) {
    const service = await startOn(directory);
    let answers = 0;
    const writers = Array.from({ length: WRITERS }, (_, writer) =>
      writeUntilGone(service, `b${answersBeforeKill}-${writer}`, (bucket, bytes) => {
        answered.set(bucket, bytes);
        answers += 1;
        if (answers === answersBeforeKill) service.kill();
      }),
    );
    await Promise.all(writers);
    expect(await service.ended()).toBe("SIGKILL");
  }

  const restarted = await startOn(directory);
  const found = await restarted.bytesByBucket();
  restarted.kill();
  await restarted.ended();

  expect(answered.size).toBeGreaterThan(KILLS.length * WRITERS);
  // A request in flight at the kill may have taken effect, which adds one step.
  const lost = [...answered].filter(([bucket, bytes]) => (found.get(bucket) ?? 0) < bytes);
  expect(lost).toEqual([]);
});
