import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createGatewayClient } from "../../../lib/cli/admin/gateway.ts";
import { runAddress } from "../../../lib/cli/endpoint.ts";

let close = (): void => undefined;
afterEach(() => {
  close();
  vi.restoreAllMocks();
});

/** A program with the same answer to every request. */
const serverAnswering = async (status: number, body: string): Promise<string> => {
  const server = createServer((_request, response) => response.writeHead(status).end(body));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  close = () => server.close();
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

describe("the client of a running Skyhook", () => {
  it("returns undefined for an unknown command", async () => {
    const url = await serverAnswering(404, '{"error":"no such command"}');

    expect(
      await createGatewayClient({ endpoint: url, token: undefined }).look("c1"),
    ).toBeUndefined();
  });

  it.each([
    [404, "not found"],
    [404, '{"message":"no such path"}'],
    [401, '{"exception_class":"not_authenticated","message":"hush"}'],
    [500, "<html>"],
    [200, "<html>"],
  ])("reports %i %j as an answer of another program", async (status, body) => {
    const url = await serverAnswering(status, body);
    const message = `${url} is not a running Skyhook; check --endpoint and SKYHOOK_ENDPOINT`;

    await expect(
      createGatewayClient({ endpoint: url, token: undefined }).look("c1"),
    ).rejects.toMatchObject({
      exitCode: 3,
      message,
    });
    await expect(
      createGatewayClient({ endpoint: url, token: undefined }).send({}),
    ).rejects.toMatchObject({ exitCode: 3, message });
  });

  it.each([".", ".."])(
    "asks nothing about the name %j, which would lead to another path",
    async (name) => {
      const client = createGatewayClient({ endpoint: "http://127.0.0.1:1", token: undefined });
      const refusal = { exitCode: 2, message: `nothing has the name ${name}` };

      await expect(client.look(name)).rejects.toMatchObject(refusal);
      await expect(client.cancel(name)).rejects.toMatchObject(refusal);
      await expect(client.liftPause(name)).rejects.toMatchObject(refusal);
      await expect(client.prices.history(name)).rejects.toMatchObject(refusal);
    },
  );

  it("reports a time-out of a slow Skyhook", async () => {
    const url = await serverAnswering(200, "[]");
    const limits: number[] = [];
    vi.spyOn(AbortSignal, "timeout").mockImplementation((limitMs) => {
      limits.push(limitMs);
      return AbortSignal.abort(new DOMException("too late", "TimeoutError"));
    });

    await expect(
      createGatewayClient({ endpoint: url, token: undefined }).prices.list(),
    ).rejects.toMatchObject({
      exitCode: 3,
      message: `${url} did not answer within 30 s; it may be busy: try again`,
    });
    expect(limits).toEqual([30_000]);
  });

  it("reports a port without a listener", async () => {
    const url = await serverAnswering(200, "[]");
    close();

    await expect(
      createGatewayClient({ endpoint: url, token: undefined }).prices.list(),
    ).rejects.toMatchObject({
      exitCode: 3,
      message: expect.stringMatching(/^nothing answers at http/),
    });
  });

  it("reports Skyhook's reason for a refused request", async () => {
    const url = await serverAnswering(413, '{"error":"at most 256 KiB"}');

    await expect(
      createGatewayClient({ endpoint: url, token: undefined }).send({}),
    ).rejects.toMatchObject({
      exitCode: 2,
      message: "Skyhook refuses the request (413): at most 256 KiB",
    });
  });
});

describe("the address of a running Skyhook", () => {
  it.each(["http://127.0.0.1:4000", "https://skyhook.example/"])("may be %s", (address) => {
    expect(runAddress(address).endpoint).toBe(address);
  });

  it.each([
    ["127.0.0.1:4747", "http://127.0.0.1:4747"],
    ["localhost:4000", "http://localhost:4000"],
  ])("may be %s, without a scheme", (address, url) => {
    expect(runAddress(address).endpoint).toBe(url);
  });

  it.each(["localhost", "127.0.0.1:port", "ftp://a.example", "http://", "a b:1"])(
    "cannot be %j",
    (address) => {
      expect(() => runAddress(address)).toThrow(
        expect.objectContaining({
          exitCode: 2,
          message:
            "--endpoint or SKYHOOK_ENDPOINT: not an http address; use the one that `skyhook start` prints, such as http://127.0.0.1:4747",
        }),
      );
    },
  );
});
