import { execFile, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PutParameterCommand } from "@aws-sdk/client-ssm";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { findPython } from "../../infra/python-tools.mjs";
import { awsEnvironment, createAwsClients } from "../aws/aws-clients.ts";
import { type Emulator, startEmulator } from "../aws/emulator/emulator.ts";
import { openTemplateProxy } from "../aws/template-proxy.ts";

const { folder } = inject("packed");

/** A folder without anything, in which npx finds the installed package. */
const stageFolder = join(folder, "stage");
mkdirSync(stageFolder, { recursive: true });

const skyhook = (
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly output: string }> => {
  const { PATH = "", HOME = "" } = process.env;
  const options = { cwd: stageFolder, env: { PATH, HOME, NO_COLOR: "1", ...environment } };
  return new Promise((resolve) => {
    execFile("npx", ["--no-install", "skyhook", ...args], options, (error, stdout, stderr) =>
      resolve({ status: Number(error?.code ?? 0), output: stdout + stderr }),
    );
  });
};

describe("a stage from the installed package alone", () => {
  it("gets its files, which name the schemas of the package", async () => {
    expect(await skyhook(["init"])).toMatchObject({ status: 0 });

    const [line] = readFileSync(join(stageFolder, "accounts.yaml"), "utf8").split("\n");
    expect(line).toBe(
      "# yaml-language-server: $schema=../node_modules/skyhook/schemas/accounts.schema.json",
    );
  });

  it("runs locally with these files", async () => {
    const files = ["accounts", "reactions", "thresholds", "watchlist"];
    const flags = files.flatMap((name) => [`--${name}`, `${name}.yaml`]);
    const state = { XDG_STATE_HOME: join(folder, "state") };

    expect(await skyhook(["start", "--port", "0", "--exit", ...flags], state)).toMatchObject({
      status: 0,
    });
  });

  it("is packaged: the template and a zip for each function", async () => {
    expect(await skyhook(["package", "--stage", "dev"])).toMatchObject({ status: 0 });

    const out = join(stageFolder, ".skyhook");
    const { Resources } = JSON.parse(readFileSync(join(out, "template.json"), "utf8"));
    expect(Object.keys(Resources)).toContain("RunDashcommandsLambdaFunction");
    const keys = readdirSync(join(out, "skyhook", "dev"));
    expect(keys).toHaveLength(6);
    expect(Resources.IntakeLambdaFunction.Properties.Code.S3Key).toBe(
      `skyhook/dev/${keys.find((name) => name.startsWith("intake-"))}`,
    );
  });
});

const hasEmulator =
  process.env.AWS_ENDPOINT_URL !== undefined ||
  findPython() !== undefined ||
  spawnSync("docker", ["info"]).status === 0;
if (!hasEmulator) process.stderr.write("NOT RUN without Python or Docker: skyhook deploy\n");

describe.runIf(hasEmulator)("skyhook deploy on an AWS emulator", () => {
  let emulator: Emulator;
  let proxy: Awaited<ReturnType<typeof openTemplateProxy>>;
  beforeAll(async () => {
    emulator = await startEmulator();
    proxy = await openTemplateProxy(emulator.endpoint);
  });
  afterAll(async () => {
    proxy.close();
    await emulator.stop();
  });

  const deploy = (...flags: readonly string[]) =>
    skyhook(["deploy", "--stage", "dev", ...flags], awsEnvironment(proxy.endpoint));

  it("names the SSM parameters to create", async () => {
    const { status, output } = await deploy("--yes");

    expect(status).toBe(2);
    expect(output).toContain("--name /skyhook/dev/api-key");
    expect(output).toContain("--name /skyhook/dev/fingerprint-key");
  });

  it("creates nothing without a terminal and without --yes", async () => {
    const { ssm } = createAwsClients(emulator.endpoint);
    for (const Name of ["/skyhook/dev/api-key", "/skyhook/dev/fingerprint-key"]) {
      await ssm.send(new PutParameterCommand({ Name, Type: "SecureString", Value: "12$abc" }));
    }

    const { status, output } = await deploy();

    expect(status).toBe(2);
    expect(output).toContain("the stack skyhook-dev was not created");
  });

  it("creates the stack: its bucket, then everything else", async () => {
    const { status, output } = await deploy("--yes");

    expect(output).toContain("+ add   S3::BucketPolicy  ServerlessDeploymentBucketPolicy");
    expect(output).toContain("uploaded 6 zips");
    expect(output).toContain("deployed the stack skyhook-dev in us-east-1");
    expect(output).toMatch(/ConfigBucketName: \S/);
    expect(status).toBe(0);
  });

  it("finds nothing to change a second time", async () => {
    const { status, output } = await deploy("--yes");

    expect(output).toContain("nothing to change in the stack skyhook-dev");
    expect(status).toBe(0);
  });

  it("changes only what depends on a changed parameter", async () => {
    const { status, output } = await deploy("--param", "monitoring=no", "--yes");

    expect(output).toContain("- remove  CloudWatch::Dashboard");
    expect(output).not.toContain("Lambda::Function");
    expect(status).toBe(0);
  });
});
