import type { Chance } from "../engine/chance.ts";
import type { Weather } from "../engine/faults.ts";

/** Highest probability of each kind of fault, per call that it can strike. */
const STORMIEST: Weather = {
  // Machines.
  "killed before": 0.02,
  "killed after": 0.02,
  "slow before": 0.03,
  "slow after": 0.03,
  "clock jump": 0.02,
  frozen: 0.01,
  // Every call to AWS.
  hangs: 0.03,
  "hangs after": 0.03,
  // The ledger.
  "read fails": 0.03,
  "write fails": 0.08,
  "write answer lost": 0.08,
  "write retried": 0.08,
  "write conflicts": 0.15,
  "query fails": 0.05,
  "query stale": 0.3,
  "query incomplete": 0.3,
  // The bus.
  "publish fails": 0.2,
  "publish answer lost": 0.2,
  "entries fail": 0.3,
  // Queues.
  "send fails": 0.2,
  "send answer lost": 0.2,
  "wake late": 0.3,
  // Secrets.
  "secret fails": 0.3,
  // The provider.
  "429": 0.15,
  "429 for long": 0.1,
  "503 before": 0.15,
  "503 after": 0.3,
  "504 before": 0.1,
  "504 after": 0.2,
  "reset before": 0.1,
  "reset after": 0.3,
  "no connection": 0.1,
  "401": 0.05,
  "cut off": 0.1,
  "unknown words": 0.1,
  stalls: 0.5,
  // Its tasks.
  endless: 0.1,
  vanishing: 0.1,
  failing: 0.1,
  strange: 0.2,
  late: 0.2,
  long: 0.1,
  unreadable: 0.1,
  "twin task": 0.5,
  "shared task": 0.3,
  // Delivery by AWS of messages, events and ticks.
  "comes again early": 0.3,
  "comes twice": 0.2,
  "held up": 0.1,
  "acknowledgement lost": 0.2,
  "event twice": 0.3,
  "event late": 0.3,
  "tick lost": 0.5,
  "tick twice": 0.5,
};

/** Every kind of fault, those of tasks included. */
export const WEATHER_KINDS = Object.keys(STORMIEST);

/**
 * The fault profile of a run. Most kinds are left out, and the others are frequent: when everything
 * fails at once, no command gets far enough to fail in an interesting way.
 */
export const weatherOf = (chance: Chance, fairShare: number): Weather => {
  // No faults, or only faults that cost one more attempt: a slow command in such a run was forgotten.
  if (chance.happens("fair", fairShare))
    return chance.pick("fair but", [{}, { "no connection": 0.5 }]);
  return Object.fromEntries(
    Object.entries(STORMIEST).map(([kind, rate]) => [
      kind,
      rate * chance.pick(["weather", kind].join(" "), [0, 0, 0, 0.3, 1]),
    ]),
  );
};
