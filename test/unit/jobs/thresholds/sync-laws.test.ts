import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  STORAGE_EVENT_LIMITS,
  STORAGE_EVENT_NAMES,
} from "../../../../lib/contract/storage-events.ts";
import { LOSSES, type Loss } from "../../../support/lost-replies.ts";
import { createThresholdWorld } from "./threshold-world.ts";

const RUNS = { numRuns: 60 };
const MAX_UINT64 = 18_446_744_073_709_551_615n;

const uint64 = fc.oneof(
  fc.bigInt({ min: 0n, max: MAX_UINT64 }),
  fc.constantFrom(
    0n,
    2n ** 53n - 1n,
    2n ** 53n,
    2n ** 53n + 1n,
    2n ** 63n,
    MAX_UINT64 - 1n,
    MAX_UINT64,
  ),
);
const part = (...texts: readonly string[]) =>
  fc.option(fc.constantFrom(...texts), { nil: undefined });
const name = fc.constantFrom(...STORAGE_EVENT_NAMES);

const keyOf = (each: {
  name: string;
  storage_name?: string | undefined;
  bucket_name?: string | undefined;
}): string => JSON.stringify([each.name, each.storage_name ?? null, each.bucket_name ?? null]);

const wantedArbitrary = fc.uniqueArray(
  fc.record({
    name,
    storage_name: part("s", "2"),
    bucket_name: part("b", "c: #d", "é"),
    limit: uint64,
  }),
  { maxLength: 12, selector: keyOf },
);

/** Possible thresholds at the provider, with empty names and without limits too. */
const actualArbitrary = fc.uniqueArray(
  fc.record({
    name,
    storage_name: part("s", "2", ""),
    bucket_name: part("b", "c: #d", ""),
    limit: fc.option(uint64, { nil: undefined }),
  }),
  { maxLength: 12, selector: keyOf },
);

type Wanted = readonly {
  name: (typeof STORAGE_EVENT_NAMES)[number];
  storage_name?: string | undefined;
  bucket_name?: string | undefined;
  limit: bigint;
}[];
type Actual = readonly (Omit<Wanted[number], "limit"> & { limit: bigint | undefined })[];

const limitOf = ({ name: of, limit }: Actual[number], write: (limit: bigint) => unknown) =>
  limit === undefined ? {} : { [STORAGE_EVENT_LIMITS[of]]: write(limit) };

/** A file as an operator writes it: names quoted, numbers plain. */
const configOf = (prune: boolean, wanted: Wanted): string =>
  [
    `prune: ${prune}`,
    wanted.length === 0 ? "thresholds: []" : "thresholds:",
    ...wanted.flatMap((each) => [
      `  - name: ${each.name}`,
      ...(each.storage_name === undefined ? [] : [`    storage_name: "${each.storage_name}"`]),
      ...(each.bucket_name === undefined ? [] : [`    bucket_name: "${each.bucket_name}"`]),
      `    ${STORAGE_EVENT_LIMITS[each.name]}: ${each.limit}`,
    ]),
  ].join("\n");

const stateOf = (actual: Actual) =>
  actual.map(({ limit, storage_name, bucket_name, name: of }, index) => ({
    client_id: 1,
    uuid: `4b8e0c52-7d0a-4f0e-9a55-${String(index).padStart(12, "0")}`,
    name: of,
    ...(storage_name !== undefined && { storage_name }),
    ...(bucket_name !== undefined && { bucket_name }),
    ...limitOf({ name: of, limit }, String),
  }));

/** An empty name equals an absent one. */
const lineOf = (each: Actual[number]): string =>
  [each.name, each.storage_name || "-", each.bucket_name || "-", each.limit ?? "-"].join(" ");

const targetOf = (each: Actual[number]): string => lineOf({ ...each, limit: undefined });

const shown = async (world: Awaited<ReturnType<typeof createThresholdWorld>>) =>
  (await world.actual()).map((line) => line.replaceAll("  ", " - ").replaceAll("  ", " - "));

test("plan and apply reach the wanted state from any actual state, and a second plan is empty", async () => {
  await fc.assert(
    fc.asyncProperty(
      wantedArbitrary,
      actualArbitrary,
      fc.boolean(),
      async (wanted, actual, prune) => {
        const world = await createThresholdWorld({
          config: configOf(prune, wanted),
          events: stateOf(actual),
        });

        await world.sync();

        const after = await shown(world);
        const targets = new Set(wanted.map((each) => targetOf({ ...each })));
        const others = actual.filter((each) => !targets.has(targetOf(each))).map(lineOf);
        expect(after).toEqual(expect.arrayContaining(wanted.map((each) => lineOf({ ...each }))));
        if (prune) expect(after).toHaveLength(wanted.length);
        else expect(after).toEqual(expect.arrayContaining(others));
        world.methods();
        await world.sync();
        expect(world.methods()).toEqual(["GET"]);
        expect(world.publishedOf("ThresholdsSynced").at(-1)?.data.changes).toEqual([]);
      },
    ),
    RUNS,
  );
});

test("limits of 64 bits survive YAML, plan, request and event exactly", async () => {
  await fc.assert(
    fc.asyncProperty(wantedArbitrary, async (wanted) => {
      const world = await createThresholdWorld({ config: configOf(false, wanted) });

      await world.sync();

      const sent = world.requests.flatMap(({ method, body }) => {
        if (method !== "POST") return [];
        const { bytes, count, ...target } = body as Actual[number] & Record<string, bigint>;
        return [lineOf({ ...target, limit: BigInt((bytes ?? count) as bigint) })];
      });
      const published = world
        .publishedOf("ThresholdsSynced")
        .flatMap(({ data }) => data.changes)
        .map(({ after, ...target }) => lineOf({ ...target, limit: after.bytes ?? after.count }));
      const lines = wanted.map((each) => lineOf({ ...each })).toSorted();
      expect(sent.toSorted()).toEqual(lines);
      expect(published.toSorted()).toEqual(lines);
      expect(await shown(world)).toEqual(lines);
    }),
    RUNS,
  );
});

test.each([
  ["with lists", { canList: true }],
  ["without lists", { canList: false }],
])(
  "with any lost replies, the sync ends in the wanted state with one threshold per target, %s",
  async (_how, account) => {
    await fc.assert(
      fc.asyncProperty(
        wantedArbitrary,
        wantedArbitrary,
        fc.array(fc.constantFrom<Loss>(...LOSSES), { maxLength: 20 }),
        async (first, second, losses) => {
          const world = await createThresholdWorld({ account });
          world.faults.strike(...losses);

          for (const wanted of [first, second]) {
            world.source.write(configOf(true, wanted));
            // The first sync may not finish if its replies are lost repeatedly.
            await world.sync().catch(() => {});
          }
          for (let tries = 0; tries < 10; tries += 1) await world.sync().catch(() => {});

          expect(await shown(world)).toEqual(second.map((each) => lineOf({ ...each })).toSorted());
        },
      ),
      RUNS,
    );
  },
  60_000,
);
