import { defineConfig } from "vitest/config";

/** `npm run test:aws`: a deployed stack on an AWS emulator. */
export default defineConfig({
  test: {
    include: ["test/aws/**/*.aws.ts"],
    globalSetup: ["test/aws/global-setup.ts"],
    testTimeout: 150_000,
    hookTimeout: 180_000,
    // The emulator runs the functions as processes of this machine.
    fileParallelism: false,
    isolate: false,
    env: { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true" },
  },
});
