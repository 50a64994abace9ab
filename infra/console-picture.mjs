/**
 * `npm run picture` writes docs/images/console-light.webp and console-dark.webp: the console's list of commands in
 * the middle of the demo. Needs Chromium.
 *
 * The run is real, so times and ids differ from one picture to the next.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { findChromium } from "./chromium.mjs";

const SIZE = { width: 1280, height: 800 };
/** Percent. Higher ones double the file without a visible difference. */
const QUALITY = 80;

const pageUrlOf = (program) =>
  new Promise((resolve, reject) => {
    let output = "";
    for (const stream of [program.stdout, program.stderr]) {
      stream.setEncoding("utf8").on("data", (text) => {
        output += text;
        const [url] = /http:\S+\?token=\S+/.exec(output) ?? [];
        if (url !== undefined) resolve(url);
      });
    }
    program.on("close", () => reject(new Error(`the run ended:\n${output}`)));
  });

/** Resolves while the demo is under way: some commands have ended, and others are followed. */
const untilMixed = async (page) => {
  for (const status of ["succeeded", "following", "rejected"]) {
    await page.locator("main tbody").getByText(status, { exact: true }).first().waitFor();
  }
};

const write = async (page, colorScheme) => {
  await page.emulateMedia({ colorScheme });
  const cdp = await page.context().newCDPSession(page);
  const shot = { format: "webp", quality: QUALITY };
  const { data } = await cdp.send("Page.captureScreenshot", shot);
  writeFileSync(`docs/images/console-${colorScheme}.webp`, data, "base64");
};

const state = mkdtempSync(join(tmpdir(), "skyhook-picture-"));
// The browser starts first, because the demo lasts a few seconds only.
const browser = await chromium.launch({ executablePath: findChromium() });
const page = await browser.newPage({ viewport: SIZE, timezoneId: "UTC", locale: "en-GB" });
const program = spawn(process.execPath, ["dist/skyhook.mjs", "start", "--port", "0"], {
  env: { ...process.env, NO_COLOR: "1", XDG_STATE_HOME: state },
  stdio: ["ignore", "pipe", "pipe"],
});
const ended = new Promise((resolve) => program.on("close", resolve));
try {
  await page.goto(await pageUrlOf(program));
  await untilMixed(page);
  await write(page, "light");
  await write(page, "dark");
} finally {
  program.kill("SIGTERM");
  await ended;
  await browser.close();
  rmSync(state, { recursive: true, force: true });
}
