import type { Clock } from "../platform/ports/clock.ts";

/** What every client of AWS knows after its first reply. */
interface KnowsTheTime {
  /** By so much AWS's clock is ahead of this machine's, ms. */
  readonly config: { readonly systemClockOffset: number };
}

/**
 * AWS's clock, to within seconds, once something was asked of it: leases are written by it, and AWS
 * serves a machine whose own clock is hours off too.
 */
export const awsClock = (clock: Clock, { config }: KnowsTheTime): Clock => ({
  ...clock,
  now: () => clock.now() + config.systemClockOffset,
});
