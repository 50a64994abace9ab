import { defineConfig } from "vitest/config";

/** `npm run test:image`: runs the image that `npm run image` built. */
export default defineConfig({
  test: { include: ["test/image/*.image.ts"], testTimeout: 300_000, hookTimeout: 300_000 },
});
