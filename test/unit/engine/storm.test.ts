import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createFaults } from "../../support/faults.ts";
import { startProvider } from "../../support/provider.ts";
import { createRouter, removeVolumes, SUBNET, updateContainer } from "../../support/requests.ts";
import { createWorld } from "../../support/world.ts";

const ROUTER = { interfaces: [{ subnet_id: SUBNET }] };
const REQUESTS = [
  createRouter("r1", ROUTER),
  createRouter("r2", { name: "second_router" }),
  updateContainer("u1"),
  updateContainer("u2"),
  removeVolumes("v1", []),
];

/** Injects a fault after every few port calls, for the first ten minutes. */
const storm = fc.record({
  every: fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 5, maxLength: 20 }),
  kinds: fc.array(fc.constantFrom("killed", "fails before", "fails after"), {
    minLength: 5,
    maxLength: 5,
  }),
  arrivals: fc.array(fc.nat({ max: REQUESTS.length - 1 }), { minLength: 1, maxLength: 12 }),
});

test("under many crashes and failures every command ends once and creates its resource once", async () => {
  await fc.assert(
    fc.asyncProperty(storm, async ({ every, kinds, arrivals }) => {
      const faults = createFaults();
      const gaps = [...every];
      const services: Awaited<ReturnType<typeof startProvider>>[] = [];
      const world = await createWorld({
        around: faults.around,
        provider: async (clock) => {
          const service = await startProvider(clock, 3_000);
          services.push(service);
          return service;
        },
      });
      const strikeNext = (): void => {
        const gap = gaps.shift();
        const kind = kinds[gaps.length % kinds.length];
        if (gap !== undefined && kind) faults.strike(faults.calls.length + gap, kind);
      };

      for (const index of arrivals) {
        strikeNext();
        await world.send(REQUESTS[index]);
        await world.pass(20_000);
      }
      for (const request of REQUESTS) await world.send(request);
      await world.untilQuiet(20 * 60 * 60 * 1000);

      const ends = world.bus
        .published()
        .filter(({ detailType }) => /^Command[SFC]/.test(detailType));
      expect(new Set(ends.map(({ metadata, id }) => `${metadata.commandId} ${id}`)).size).toBe(5);
      const routers = (await services[0]!.records("routers")).map(({ name }) => name);
      expect(routers.filter((name) => name === "new_router")).toHaveLength(1);
      expect(routers.filter((name) => name === "second_router")).toHaveLength(1);
      expect(new Set(ends.map(({ detailType }) => detailType))).toEqual(
        new Set(["CommandSucceeded"]),
      );
    }),
    { numRuns: 12 },
  );
});
