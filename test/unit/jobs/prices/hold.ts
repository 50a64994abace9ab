import type { Around } from "../../../support/faults.ts";

/** Holds the nth call of one invocation until it is released. */
export const createHold = (invocation: number, nth: number) => {
  let calls = 0;
  let reach = (): void => undefined;
  let open = (): void => undefined;
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const around: Around = async (call, effect) => {
    if (call.invocation !== invocation) return effect();
    calls += 1;
    if (calls === nth) {
      reach();
      await opened;
    }
    return effect();
  };
  return { around, reached, open: () => open() };
};
