import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { findChromium } from "../../../infra/chromium.mjs";

/** A folder with programs that end with the given status. */
const folderWith = async (programs: Readonly<Record<string, number>>): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), "skyhook-chromium-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const [name, status] of Object.entries(programs)) {
    await writeFile(join(folder, name), `#!/bin/sh\nexit ${status}\n`);
    await chmod(join(folder, name), 0o755);
  }
  return folder;
};

test("finds the first browser on the PATH that starts", async () => {
  const stub = await folderWith({ "chromium-browser": 1 });
  const chrome = await folderWith({ "google-chrome": 0 });
  expect(findChromium({ PATH: [stub, chrome].join(delimiter) })).toBe(
    join(chrome, "google-chrome"),
  );
});

test("takes the browser of SKYHOOK_CHROMIUM, and no other", async () => {
  const own = await folderWith({ mine: 0 });
  const other = await folderWith({ chromium: 0 });
  const named = { SKYHOOK_CHROMIUM: join(own, "mine"), PATH: other };
  expect(findChromium(named)).toBe(join(own, "mine"));
  expect(findChromium({ ...named, SKYHOOK_CHROMIUM: join(own, "absent") })).toBeUndefined();
});
