import { defineConfig } from "vitest/config";

/** Configuration of `npm run test:smoke`, for a stage on AWS. */
export default defineConfig({ test: { include: ["test/aws/smoke/*.smoke.ts"] } });
