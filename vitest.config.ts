import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // dynalite and spawned local runs start in well under a second; a hang must not eat the run.
    testTimeout: 20_000,
  },
});
