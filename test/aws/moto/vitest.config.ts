import { defineConfig } from "vitest/config";

/** Configuration of `npm run test:moto`: the contracts of the ports on a second AWS emulator. */
export default defineConfig({
  test: {
    include: ["test/aws/ports/*.aws.ts"],
    globalSetup: ["test/aws/moto/global-setup.ts"],
    setupFiles: ["test/aws/moto/deviations.ts"],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    // As for the first emulator.
    expect: { poll: { timeout: 20_000, interval: 100 } },
    fileParallelism: false,
    env: { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true" },
  },
});
