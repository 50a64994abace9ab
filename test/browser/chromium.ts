import { chromium } from "playwright-core";
import type { TestProject } from "vitest/node";
import { findChromium } from "../../infra/chromium.mjs";

declare module "vitest" {
  interface ProvidedContext {
    /** WebSocket address of the browser that all tests share. */
    readonly browser: string;
  }
}

/**
 * Starts one Chromium for all files.
 * @throws Error without a Chromium: the tests fail instead of passing unrun
 */
export default async ({ provide }: TestProject): Promise<() => Promise<void>> => {
  const executablePath = findChromium();
  if (executablePath === undefined) {
    throw new Error(
      "no Chromium for the browser tests: install Chromium or Chrome, or set SKYHOOK_CHROMIUM to its path",
    );
  }
  const server = await chromium.launchServer({
    executablePath,
    args: ["--enable-precise-memory-info", "--js-flags=--expose-gc"],
  });
  provide("browser", server.wsEndpoint());
  return () => server.close();
};
