import { defineConfig } from "vitest/config";

/** `npm run test:docs`: runs the commands that README.md and docs/getting-started.md print. */
export default defineConfig({
  test: {
    include: ["test/docs/*.docs.ts"],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // The first block of a page installs what the others need.
    bail: 1,
  },
});
