/**
 * Builds a value when it is first used. The schemas of all operations take 20 ms of CPU time to build, which a call of
 * the command line and a cold start would spend on operations that they do not use.
 */
export const lazy = <T>(build: () => T): (() => T) => {
  let built: { readonly value: T } | undefined;
  return () => {
    built ??= { value: build() };
    return built.value;
  };
};
