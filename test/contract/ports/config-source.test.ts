import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { S3Client } from "@aws-sdk/client-s3";
import { describe, expect, it, onTestFinished } from "vitest";
import { createFileConfigSource } from "../../../lib/local/file-watch.ts";
import { createS3ConfigSource } from "../../../lib/platform/aws/s3-config-source.ts";
import {
  type ConfigSourceHarness,
  describeConfigSourceContract,
} from "./config-source-contract.ts";

const makeFolder = (): Promise<string> => mkdtemp(join(tmpdir(), "skyhook-config-"));

const openFile = async (): Promise<ConfigSourceHarness> => {
  const folder = await makeFolder();
  const path = join(folder, "config.yaml");
  return {
    source: createFileConfigSource(path),
    write: (text) => writeFile(path, text),
    remove: () => rm(path),
    close: () => rm(folder, { recursive: true }),
  };
};

const xmlError = (statusCode: number, code: string) => ({
  statusCode,
  headers: { "content-type": "application/xml" },
  body: `<Error><Code>${code}</Code><Message>${code}</Message></Error>`,
});

/** Responds to GetObject with a range as S3 does (API reference, GetObject and error responses). */
const openS3 = async (): Promise<ConfigSourceHarness & { readonly asked: string[] }> => {
  let object: { readonly bytes: Buffer; readonly version: number } | undefined;
  const asked: string[] = [];
  const answer = (range: string) => {
    if (!object) return xmlError(404, "NoSuchKey");
    if (object.bytes.length === 0) return xmlError(416, "InvalidRange");
    const [from = 0, to = 0] = range.replace("bytes=", "").split("-").map(Number);
    return {
      statusCode: 206,
      headers: { etag: `"etag-${object.version}"`, "x-amz-version-id": `v${object.version}` },
      body: object.bytes.subarray(from, to + 1),
    };
  };
  const handle = async (sent: {
    readonly method: string;
    readonly hostname: string;
    readonly path: string;
    readonly headers: Record<string, string>;
  }) => {
    asked.push(`${sent.method} ${sent.hostname}${sent.path}`);
    const { body, ...response } = answer(sent.headers.range ?? "");
    return { response: { ...response, body: Readable.from([Buffer.from(body)]) } };
  };
  const client = new S3Client({
    region: "eu-central-1",
    credentials: { accessKeyId: "test", secretAccessKey: "test" },
    requestHandler: { handle },
  });
  return {
    asked,
    source: createS3ConfigSource({ client, bucket: "configs", key: "thresholds.yaml" }),
    async write(text) {
      object = { bytes: Buffer.from(text), version: (object?.version ?? 0) + 1 };
    },
    async remove() {
      object = undefined;
    },
    close: async () => undefined,
  };
};

describeConfigSourceContract("a file", openFile);
describeConfigSourceContract("an S3 object, against its documented answers", openS3);

describe("a config in an S3 object", () => {
  it("is identified by bucket and key, and has the version of S3", async () => {
    const { source, write, asked } = await openS3();
    await write("thresholds: []");

    expect(source.name).toBe("s3://configs/thresholds.yaml");
    expect(await source.read()).toEqual({ text: "thresholds: []", version: "v1" });
    expect(asked).toEqual(["GET configs.s3.eu-central-1.amazonaws.com/thresholds.yaml"]);
  });

  it("rejects when S3 refuses, instead of reporting a missing config", async () => {
    const client = new S3Client({
      region: "eu-central-1",
      credentials: { accessKeyId: "test", secretAccessKey: "test" },
      requestHandler: {
        handle: async () => {
          const { body, ...response } = xmlError(403, "AccessDenied");
          return { response: { ...response, body: Readable.from([Buffer.from(body)]) } };
        },
      },
    });
    const source = createS3ConfigSource({ client, bucket: "configs", key: "thresholds.yaml" });

    await expect(source.read()).rejects.toThrow("AccessDenied");
  });
});

describe("a config in a file", () => {
  it("rejects when the path is a folder", async () => {
    const folder = await makeFolder();
    onTestFinished(() => rm(folder, { recursive: true }));

    await expect(createFileConfigSource(folder).read()).rejects.toThrow("EISDIR");
  });
});
