import { defineConfig } from "vitest/config";

/** `npm run test:fixes`: takes the fix of each bug of the change log back, and runs its test. */
export default defineConfig({
  test: {
    include: ["test/system/fixed-bugs/*.fixes.ts"],
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
