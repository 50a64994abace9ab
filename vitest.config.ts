import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // These end a hang, and judge no speed: on a busy machine a test takes ten times as long.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    // Vitest leaves one core idle by default; on two cores that doubles the time.
    maxWorkers: "100%",
    // No module of ours has state of its own, so files may share what they import; a fifth faster.
    isolate: false,
    env: {
      // The SDK's advice to upgrade Node would stand in the output of every file that uses it.
      AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true",
      // Local runs keep their address here, and not where the developer's own commands look.
      XDG_STATE_HOME: join(tmpdir(), "skyhook-tests"),
      // Texts for a terminal are the same wherever the tests run; some CI systems have colours.
      NO_COLOR: "1",
    },
  },
});
