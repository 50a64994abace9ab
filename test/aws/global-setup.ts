import type { TestProject } from "vitest/node";
import { startEmulator } from "./emulator/emulator.ts";

declare module "vitest" {
  interface ProvidedContext {
    readonly awsEndpoint: string;
  }
}

/** Starts one emulator for all test files. Each file deploys its own stage. */
export default async ({ provide }: TestProject): Promise<() => Promise<void>> => {
  const emulator = await startEmulator();
  process.stderr.write(`AWS emulator: ${emulator.what}, ${emulator.endpoint}\n`);
  provide("awsEndpoint", emulator.endpoint);
  return emulator.stop;
};
