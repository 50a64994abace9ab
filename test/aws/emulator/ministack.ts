import type { Emulator } from "./emulator.ts";
import { startProcess } from "./emulator-process.ts";

/**
 * Environment of MiniStack. It listens on 127.0.0.1 only and uses that address in URLs, because "localhost" may be
 * another address for its functions. With AUTH it evaluates IAM policies, also those of the functions' roles.
 */
const settingsOf = (port: number) => ({
  BIND_HOST: "127.0.0.1",
  MINISTACK_HOST: "127.0.0.1",
  GATEWAY_PORT: String(port),
  AUTH: "true",
  AWS_ACCESS_KEY_ID: "test",
  AWS_SECRET_ACCESS_KEY: "test",
  // Suppresses the SDK's advice to upgrade Node, which every function would print.
  AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true",
});

/**
 * Starts MiniStack and waits until it answers.
 * @param launch the command that runs it with those settings
 * @throws Error with its output if it does not answer in time
 */
export const startMinistack = (
  what: string,
  launch: (settings: Readonly<Record<string, string>>) => {
    readonly command: string;
    readonly args: readonly string[];
    readonly env: NodeJS.ProcessEnv;
  },
): Promise<Emulator> =>
  startProcess({
    what,
    healthPath: "/_ministack/health",
    launch: (port) => launch(settingsOf(port)),
  });
