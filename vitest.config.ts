import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Every event that a local run of a test publishes is checked against its JSON Schema.
    setupFiles: ["test/support/check-local-buses.mjs"],
    // Limits for tests that hang, not for slow ones: on a busy machine a test takes ten times as long.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    // Vitest leaves one core idle by default; on two cores that doubles the time.
    maxWorkers: "100%",
    // No module of the sources has state, so test files can share imported modules. This saves a fifth of the time.
    isolate: false,
    env: {
      // Suppresses the SDK's advice to upgrade Node, which every file that uses it would print.
      AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true",
      // Local runs write their address here, so that the developer's own commands do not find them.
      XDG_STATE_HOME: join(tmpdir(), "skyhook-tests"),
      // The same output everywhere: some CI systems enable colours.
      NO_COLOR: "1",
    },
  },
});
