/**
 * Runs a start-up once for all invocations of a sandbox. A start-up that failed is forgotten, so
 * that the next invocation tries again.
 */
export const once = <T>(start: () => Promise<T>): (() => Promise<T>) => {
  let started: Promise<T> | undefined;
  return () => {
    started ??= start().catch((error: unknown) => {
      started = undefined;
      throw error;
    });
    return started;
  };
};
