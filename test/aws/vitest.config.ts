import { defineConfig } from "vitest/config";

/** `npm run test:aws`: a deployed stack on an AWS emulator. */
export default defineConfig({
  test: {
    include: ["test/aws/**/*.aws.ts"],
    globalSetup: ["test/aws/global-setup.ts"],
    testTimeout: 300_000,
    hookTimeout: 180_000,
    // The ports' contracts poll for what is there after a moment; an emulator is slower than a map.
    expect: { poll: { timeout: 20_000, interval: 100 } },
    // The emulator runs the functions as processes of this machine.
    fileParallelism: false,
    isolate: false,
    env: { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true" },
  },
});
