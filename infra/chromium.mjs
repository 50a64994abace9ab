/**
 * Finds the Chromium of the browser tests, and installs it on Debian.
 *
 * Usage: `node infra/chromium.mjs` prints its path. With `install`, apt installs a missing one: for CI, as root.
 */
import { spawnSync } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Names of Chromium and Chrome on Linux. */
const NAMES = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];

const MAC_PROGRAMS = [
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

const VERSION_LIMIT_MS = 30_000;
const INSTALL_LIMIT_MS = 5 * 60_000;

/** Ubuntu's `chromium-browser` exists without the browser: it only asks for a snap package. */
const starts = (program) =>
  existsSync(program) &&
  spawnSync(program, ["--version"], { timeout: VERSION_LIMIT_MS }).status === 0;

/**
 * The path of the browser: SKYHOOK_CHROMIUM, else the first Chromium or Chrome on the PATH, else in
 * the Applications of macOS. Undefined if there is none.
 */
export const findChromium = ({ SKYHOOK_CHROMIUM, PATH = "" } = process.env) => {
  const folders = PATH.split(delimiter).filter((folder) => folder !== "");
  const programs = SKYHOOK_CHROMIUM
    ? [SKYHOOK_CHROMIUM]
    : [...NAMES.flatMap((name) => folders.map((folder) => join(folder, name))), ...MAC_PROGRAMS];
  return programs.find(starts);
};

const apt = (...args) => {
  const { status, error, stderr } = spawnSync("apt-get", args, {
    encoding: "utf8",
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    timeout: INSTALL_LIMIT_MS,
  });
  if (status !== 0) throw new Error(`apt-get ${args[0]}: ${error?.message ?? stderr.trim()}`);
};

const installChromium = () => {
  if (!existsSync("/etc/debian_version"))
    throw new Error("only Debian's Chromium can be installed");
  if (process.getuid?.() !== 0) throw new Error("only root can install Chromium");
  apt("update", "-q");
  // Without a font, text has no width.
  apt("install", "-q", "-y", "--no-install-recommends", "chromium", "fonts-dejavu-core");
};

if (realpathSync(process.argv[1] ?? ".") === fileURLToPath(import.meta.url)) {
  try {
    if (process.argv[2] === "install" && findChromium() === undefined) installChromium();
    const found = findChromium();
    if (found === undefined) {
      throw new Error(
        "none found; install Chromium or Chrome, or set SKYHOOK_CHROMIUM to its path",
      );
    }
    process.stdout.write(`${found}\n`);
  } catch (error) {
    process.stderr.write(`no Chromium: ${error.message}\n`);
    process.exitCode = 1;
  }
}
