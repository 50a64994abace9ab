import { defineConfig } from "vitest/config";

/** `npm run test:smoke`: a stage that is deployed to AWS. */
export default defineConfig({ test: { include: ["test/aws/smoke/*.smoke.ts"] } });
