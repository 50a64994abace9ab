import { createAdjustableClock } from "../../../lib/service/adjustable-clock.ts";
import { createControl } from "../../../lib/service/control.ts";
import { createFaults } from "../../../lib/service/faults.ts";
import { createRequestLog } from "../../../lib/service/request-log.ts";
import { createService } from "../../../lib/service/service.ts";
import { builtInState, type State } from "../../../lib/service/state/state.ts";
import { openLevelStore } from "../../../lib/service/store.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

/** Imports one state after another into a folder, until the process is killed. Prints the number of each import
 * before and after it. */
const [, , directory = ""] = process.argv;

/** A state of many records that all have the number as their name. */
const numberedState = (name: string): State => {
  const { routers, lifecycle_policies, load_balancer_pools, ...others } = builtInState();
  const [router] = routers;
  if (!router) throw new Error("no router in the built-in state");
  const idOf = (n: number): string => `da5b9588-cecc-4111-a318-${String(n).padStart(12, "0")}`;
  return {
    ...others,
    routers: Array.from({ length: 500 }, (_, n) => ({ ...router, id: idOf(n), name })),
    lifecycle_policies: lifecycle_policies.map((policy) => ({ ...policy, name })),
    load_balancer_pools: load_balancer_pools.map((pool) => ({ ...pool, name })),
  };
};

const random = createSeededRandom();
const clock = createAdjustableClock(createVirtualClock());
const initialState = numberedState("0");
const service = await createService({
  clock,
  random,
  initialState,
  store: await openLevelStore(directory),
  taskDurationMs: 1000,
  onFault: (error) => {
    throw error;
  },
});
const requestLog = createRequestLog();
const faults = createFaults({ clock, random });
const { state } = createControl({ service, clock, requestLog, faults, initialState });
for (let number = 1; ; number += 1) {
  const next = numberedState(String(number));
  process.stdout.write(`begins ${number}\n`);
  await state.import(next);
  process.stdout.write(`${number}\n`);
}
