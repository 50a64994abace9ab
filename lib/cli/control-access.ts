import { readFileSync, rmSync } from "node:fs";
import { newToken } from "../console/auth.ts";
import { CONTROL_PATH } from "../service/control-routes.ts";
import type { Environment } from "./environment.ts";
import { stateFolder, writePrivate } from "./private-file.ts";

/** How to reach the controls of a service. */
export interface ControlAccess {
  readonly token: string;
  /** Keeps a new token in a file, and returns how to use the controls of the service at an address. */
  announce(baseUrl: string): string;
  /** Removes the file. */
  forget(): void;
}

const usage = (baseUrl: string, token: string): string =>
  [
    `controls of the service: ${baseUrl}${CONTROL_PATH}/ (clock, state, snapshots, requests, prices, faults)`,
    `  curl -H "Authorization: Bearer ${token}" ${baseUrl}${CONTROL_PATH}/clock`,
  ].join("\n");

const removeOwn = (file: string, token: string): void => {
  try {
    if (readFileSync(file, "utf8") === token) rmSync(file, { force: true });
  } catch {
    // The user removed the file meanwhile.
  }
};

/**
 * Access to the controls of a service. The token is the given one, or a new one in a file that only this user can
 * read; it is never printed.
 */
export const createControlAccess = (
  given: string | undefined,
  environment: Environment,
): ControlAccess => {
  const token = given ?? newToken();
  let file: string | undefined;
  return {
    token,
    announce(baseUrl) {
      if (given !== undefined) return usage(baseUrl, "$SKYHOOK_CONTROL_TOKEN");
      const folder = stateFolder(environment, "control");
      file = writePrivate(folder, `${new URL(baseUrl).port}.token`, token);
      return usage(baseUrl, `$(cat ${file})`);
    },
    forget() {
      if (file !== undefined) removeOwn(file, token);
    },
  };
};
