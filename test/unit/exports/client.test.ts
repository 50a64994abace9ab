import { describe, expect, test } from "vitest";
import { createClient, OPERATIONS, ProviderError } from "../../../lib/exports/client.ts";
import { startService } from "../../../lib/exports/service.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

const CONTAINER = { project_id: 1234567, region_id: 76, container_name: "my-container" };

const clientOf = async (faults: readonly string[] = []) => {
  const service = await startService({ faults });
  const { url: baseUrl, apiKey, fetch, stop } = service;
  return { stop, service, client: createClient({ baseUrl, apiKey, fetch }) };
};

describe("the client of the package", () => {
  test("calls an operation by id, over HTTP with the global fetch", async () => {
    const service = await startService();
    const client = createClient({ baseUrl: `${service.url}/`, apiKey: service.apiKey });

    const container = await client.call("get-container", { params: CONTAINER });
    const types = await client.call("list-storage-event-types");

    expect(container.name).toBe("my-container");
    expect(Object.keys(types)).not.toEqual([]);
    await service.stop();
  });

  test("calls an operation by its declaration too", async () => {
    const { client, stop } = await clientOf();
    const declaration = OPERATIONS.find(({ id }) => id === "get-container");

    await expect(client.call(declaration!, { params: CONTAINER })).resolves.toMatchObject({
      name: "my-container",
    });
    await stop();
  });

  test("reads the key before each call, so that a rotated one is used", async () => {
    const { service, stop } = await clientOf();
    const keys = ["old", service.apiKey];
    const { url: baseUrl, fetch } = service;
    const client = createClient({ baseUrl, fetch, apiKey: () => keys.shift() ?? "none" });

    await expect(client.call("get-container", { params: CONTAINER })).rejects.toMatchObject({
      code: "key-refused",
      disposition: "transient",
    });
    await expect(client.call("get-container", { params: CONTAINER })).resolves.toBeDefined();
    await stop();
  });

  test("rejects with a documented code and disposition", async () => {
    const { client, stop } = await clientOf(["update-container=lost-reply-after:1x"]);
    const update = { params: CONTAINER, body: { scale: { min: 1, max: 4 } } };

    const lost = await client.call("update-container", update).catch((error: unknown) => error);
    const locked = await client.call("update-container", update).catch((error: unknown) => error);
    const params = { ...CONTAINER, container_name: "absent" };
    const absent = await client.call("get-container", { params }).catch((error: unknown) => error);

    expect(lost).toBeInstanceOf(ProviderError);
    expect(lost).toMatchObject({ code: "connection-lost", disposition: "ambiguous" });
    expect(locked).toMatchObject({ code: "locked", disposition: "transient", status: 409 });
    expect(absent).toMatchObject({ code: "not-found", disposition: "permanent", status: 404 });
    await stop();
  });

  test("ends a call after its time limit, 30 s by default, and when the caller aborts", async () => {
    const clock = createVirtualClock();
    const base = { baseUrl: "http://127.0.0.1:1", apiKey: "key", clock };
    const client = createClient({ ...base, fetch: () => new Promise(() => {}) });
    const late = client.call("get-container", { params: CONTAINER });
    const stopped = new AbortController();
    const call = client.call("get-container", { params: CONTAINER }, { signal: stopped.signal });
    stopped.abort();
    await expect(call).rejects.toMatchObject({ code: "aborted" });

    let isOpen = true;
    const ended = late.catch((error: unknown) => {
      isOpen = false;
      return error;
    });
    await clock.advance(29_999);
    expect(isOpen).toBe(true);
    await clock.advance(1);

    expect(await ended).toMatchObject({ code: "timed-out" });
  });

  test("sends nothing for a wrong address, an unknown id or a request that breaks the contract", async () => {
    let sent = 0;
    const fetch = async () => {
      sent += 1;
      return new Response("{}");
    };
    expect(() => createClient({ baseUrl: "http://a/?b", apiKey: "key" })).toThrow(
      "baseUrl: must be a URL without user, password, query or fragment",
    );
    const client = createClient({ baseUrl: "http://127.0.0.1:1", apiKey: "key", fetch });
    const unknown: string = "get-nothing";
    const calls = [
      // @ts-expect-error the types allow known ids only
      client.call(unknown),
      client.call("get-container", { params: { ...CONTAINER, project_id: 0.5 } }),
    ];
    const [first, second] = await Promise.allSettled(calls);

    expect(first).toMatchObject({ reason: { name: "TypeError" } });
    expect(second).toMatchObject({ reason: { name: "ZodError" } });
    expect(sent).toBe(0);
  });
});
