import type { Around } from "./faults.ts";

export interface Gate {
  readonly around: Around;
  /**
   * Stops the next call with this name prefix.
   * @returns `reached` resolves when the call has arrived; `open` continues it
   */
  hold(name: string): { readonly reached: Promise<void>; readonly open: () => void };
}

/** Stops an invocation at a chosen port call, so that a test can run others before it continues. */
export const createGate = (): Gate => {
  const held = new Map<string, { readonly reach: () => void; readonly opened: Promise<void> }>();
  return {
    async around({ name }, effect) {
      const prefix = [...held.keys()].find((start) => name.startsWith(start));
      const stop = prefix === undefined ? undefined : held.get(prefix);
      if (prefix !== undefined) held.delete(prefix);
      stop?.reach();
      await stop?.opened;
      return effect();
    },
    hold(name) {
      let reach = (): void => undefined;
      let open = (): void => undefined;
      const reached = new Promise<void>((resolve) => {
        reach = resolve;
      });
      const opened = new Promise<void>((resolve) => {
        open = resolve;
      });
      held.set(name, { reach, opened });
      return { reached, open: () => open() };
    },
  };
};
