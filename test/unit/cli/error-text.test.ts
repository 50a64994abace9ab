import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { ExitError } from "../../../lib/cli/exit-code.ts";
import { programEnd } from "../../../lib/cli/program-end.ts";
import { DataDirectoryError } from "../../../lib/local/data-directory.ts";
import { SettingsError } from "../../../lib/platform/lambda/settings.ts";

describe("an error that ends the program", () => {
  it.each([
    [new ExitError(4, "waited long enough"), 4, "waited long enough"],
    [
      new SettingsError([
        { path: "--port", rule: "a whole number" },
        { path: "SKYHOOK_API_KEY", rule: "required" },
      ]),
      2,
      "wrong settings:\n  --port: a whole number\n  SKYHOOK_API_KEY: required",
    ],
    [
      new DataDirectoryError("state", "in use by another run"),
      2,
      "data directory state: in use by another run",
    ],
    [
      Object.assign(new Error("listen EADDRNOTAVAIL"), {
        code: "EADDRNOTAVAIL",
        address: "1.2.3.4",
      }),
      2,
      "--listen: must be an address of this machine, such as 127.0.0.1 or 0.0.0.0",
    ],
    [
      Object.assign(new Error("mkdir"), { code: "EEXIST", syscall: "mkdir", path: "/a/file" }),
      2,
      "/a/file: exists, and is no folder",
    ],
    [new Error("something else"), 1, "something else"],
    ["thrown text", 1, "thrown text"],
  ])(
    "%s is reported with the next step, and has its exit status",
    async (error, exitCode, text) => {
      expect(await programEnd(error)).toEqual({ exitCode, text });
    },
  );

  it("names the port that is in use", async () => {
    const first = createServer();
    await new Promise<void>((resolve) => first.listen(0, "127.0.0.1", resolve));
    const { port } = first.address() as AddressInfo;

    const error = await new Promise((resolve) => {
      createServer().once("error", resolve).listen(port, "127.0.0.1");
    });
    first.close();

    expect(await programEnd(error)).toEqual({
      exitCode: 2,
      text: `port ${port} is in use by another program; choose another port, or omit the option to get a free one`,
    });
  });
});
