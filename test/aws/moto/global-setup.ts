import type { TestProject } from "vitest/node";
import { PINNED, pythonProgram } from "../../../infra/python-tools.mjs";
import { startProcess } from "../emulator/emulator-process.ts";

/** Starts one moto for all test files. It keeps its state in memory. */
export default async ({ provide }: TestProject): Promise<() => Promise<void>> => {
  const moto = await startProcess({
    what: `moto ${PINNED.moto} (Python)`,
    healthPath: "/moto-api/",
    launch: (port) => ({
      command: pythonProgram("moto_server"),
      args: ["--host", "127.0.0.1", "--port", String(port)],
      env: process.env,
    }),
  });
  process.stderr.write(`AWS emulator: ${moto.what}, ${moto.endpoint}\n`);
  provide("awsEndpoint", moto.endpoint);
  return moto.stop;
};
