import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { PINNED, pythonProgram } from "../../../infra/python-tools.mjs";
import type { Emulator } from "./emulator.ts";
import { startMinistack } from "./ministack.ts";

/** MiniStack from its Python package, with a folder that is removed when it stops. */
export const startFromPython = async (): Promise<Emulator> => {
  const program = pythonProgram("ministack");
  const folder = await mkdtemp(join(tmpdir(), "skyhook-emulator-"));
  const emulator = await startMinistack(`MiniStack ${PINNED.ministack} (Python)`, (settings) => ({
    command: program,
    args: [],
    env: {
      // Functions run on the same Node as the tests.
      PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
      HOME: folder,
      TMPDIR: folder,
      STATE_DIR: join(folder, "state"),
      S3_DATA_DIR: join(folder, "s3"),
      ...settings,
    },
  }));
  return {
    ...emulator,
    async stop() {
      await emulator.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
