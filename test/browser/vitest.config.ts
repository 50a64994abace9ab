import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";

/** Configuration of `npm run test:browser`: the console in Chromium. */
export default defineConfig({
  test: {
    include: ["test/browser/*.browser.ts"],
    globalSetup: ["test/browser/chromium.ts"],
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    // Each file starts a browser and a run, which share two cores with the tests.
    fileParallelism: false,
    env: { NO_COLOR: "1", XDG_STATE_HOME: join(tmpdir(), "skyhook-browser-tests") },
  },
});
