import { defineConfig } from "vitest/config";

/** Configuration of `npm run test:aws`: a deployed stage on an AWS emulator. */
export default defineConfig({
  test: {
    include: ["test/aws/**/*.aws.ts"],
    globalSetup: ["test/aws/global-setup.ts"],
    testTimeout: 300_000,
    hookTimeout: 180_000,
    // The contracts of the ports poll for results, and an emulator is slower than memory.
    expect: { poll: { timeout: 20_000, interval: 100 } },
    // The emulator runs the functions as processes on this machine.
    fileParallelism: false,
    isolate: false,
    env: { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true" },
  },
});
