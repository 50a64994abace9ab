import { defineConfig } from "vitest/config";

/** `npm run test:package`: packs the npm package, installs it in an empty folder, and uses it there. */
export default defineConfig({
  test: {
    include: ["test/package/*.package.ts"],
    globalSetup: "test/package/packed.ts",
    testTimeout: 300_000,
    hookTimeout: 600_000,
  },
});
