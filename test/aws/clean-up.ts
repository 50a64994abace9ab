/** What has to go again, the last first; what cannot keeps nothing else from going. */
export interface CleanUp {
  add(remove: () => Promise<void>): void;
  /** @throws AggregateError with everything that could not be removed */
  run(): Promise<void>;
}

export const createCleanUp = (): CleanUp => {
  const removals: (() => Promise<void>)[] = [];
  return {
    add(remove) {
      removals.unshift(remove);
    },
    async run() {
      const errors: unknown[] = [];
      for (const remove of removals.splice(0)) {
        await remove().catch((error: unknown) => errors.push(error));
      }
      if (errors.length > 0) throw new AggregateError(errors, errors.map(String).join("\n"));
    },
  };
};
