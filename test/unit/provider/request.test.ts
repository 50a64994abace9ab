import { describe, expect, test } from "vitest";
import * as z from "zod";
import { updateContainer } from "../../../lib/contract/containers.ts";
import {
  getPool,
  POOL_SUCCESSOR_PATH,
  updatePool,
} from "../../../lib/contract/load-balancer-pools.ts";
import { createStorageEvent } from "../../../lib/contract/storage-events.ts";
import { getTask, listTasks, PUBLISHED_TASK_PATH } from "../../../lib/contract/tasks.ts";
import type { ClientOptions } from "../../../lib/provider/client.ts";
import { API_KEY, openClient } from "./open-client.ts";

/** Records requests and answers each with the same reply. */
const recorder = (reply: string) => {
  const requests: Request[] = [];
  return {
    requests,
    fetch: async (request: Request) => {
      requests.push(request);
      return new Response(reply);
    },
  };
};

const callTask = async (options: Partial<ClientOptions>, taskId = "t") => {
  const { requests, fetch } = recorder('{"id":"t","state":"NEW"}');
  const { client } = openClient({ fetch, ...options });
  await client.call(getTask, { params: { task_id: taskId }, query: {}, body: undefined });
  return requests[0]!;
};

test("a mutation has its method, URL, key and body", async () => {
  const { requests, fetch } = recorder('{"tasks":["a"]}');
  const { calls } = openClient({ fetch });

  expect(await calls["update-container"]()).toEqual({ tasks: ["a"] });

  const request = requests[0]!;
  expect(requests.length).toBe(1);
  expect(request.method).toBe("PATCH");
  expect(request.url).toBe("https://api.example/cloud/v1/caas/1/2/containers/web");
  expect(Object.fromEntries(request.headers)).toEqual({
    accept: "application/json",
    authorization: `apikey ${API_KEY}`,
    "content-type": "application/json",
  });
  expect(await request.text()).toBe('{"timeout":5}');
  expect(request.redirect).toBe("manual");
});

test("an operation without a body has no content type", async () => {
  const { requests, fetch } = recorder("{}");
  const { calls } = openClient({ fetch });

  await calls["resume-instance"]().catch(() => undefined);

  const request = requests[0]!;
  expect(request.method).toBe("POST");
  expect(request.headers.has("content-type")).toBe(false);
  expect(request.body).toBeNull();
});

describe("a path parameter becomes one segment:", () => {
  test.each([
    ["web", "web"],
    ["a/b", "a%2Fb"],
    ["../..", "..%2F.."],
    ["...", "..."],
    ["%2e%2e", "%252e%252e"],
    ["100%", "100%25"],
    ["a b", "a%20b"],
    ["a?b#c", "a%3Fb%23c"],
    ["a\\b", "a%5Cb"],
    ["größe 😀", "gr%C3%B6%C3%9Fe%20%F0%9F%98%80"],
    ["a;b=c&d", "a%3Bb%3Dc%26d"],
    ["{region_id}", "%7Bregion_id%7D"],
    ["\r\n\0", "%0D%0A%00"],
  ])("%j", async (taskId, segment) => {
    const request = await callTask({}, taskId);

    expect(request.url).toBe(`https://api.example/v1/tasks/${segment}`);
  });
});

test.each([
  ["https://api.example", "https://api.example/v1/tasks/t"],
  ["https://api.example/", "https://api.example/v1/tasks/t"],
  ["https://api.example///", "https://api.example/v1/tasks/t"],
  ["https://gateway.example/provider", "https://gateway.example/provider/v1/tasks/t"],
  ["https://gateway.example:8443/a/b/", "https://gateway.example:8443/a/b/v1/tasks/t"],
  ["http://127.0.0.1:8080", "http://127.0.0.1:8080/v1/tasks/t"],
])("the base URL %s results in %s", async (baseUrl, url) => {
  expect((await callTask({ baseUrl })).url).toBe(url);
});

test("the path of a task is the contract's, or the one in `paths`", async () => {
  expect((await callTask({})).url).toBe("https://api.example/v1/tasks/t");
  expect((await callTask({ paths: { [getTask.id]: PUBLISHED_TASK_PATH } })).url).toBe(
    "https://api.example/cloud/v1/tasks/t",
  );
});

test("the query repeats the key of a list and omits absent values", async () => {
  const { requests, fetch } = recorder('{"count":0,"results":[]}');
  const { client } = openClient({ fetch });

  await client.call(listTasks, {
    params: {},
    query: {
      state: ["NEW", "RUNNING"],
      project_id: [],
      task_type: "a b&c=ü",
      from_timestamp: "2026-01-01T00:00:00.000Z",
      limit: undefined,
    },
    body: undefined,
  });

  expect(requests[0]!.url).toBe(
    "https://api.example/cloud/v1/tasks?state=NEW&state=RUNNING&task_type=a+b%26c%3D%C3%BC&from_timestamp=2026-01-01T00%3A00%3A00.000Z",
  );
});

test.each(["0", "9007199254740993", "18446744073709551615"])(
  "the 64-bit number %s is sent and read as a JSON number with all its digits",
  async (bytes) => {
    const { requests, fetch } = recorder(`{"name":"reaching_used_space","bytes":${bytes}}`);
    const { client } = openClient({ fetch });

    const created = await client.call(createStorageEvent, {
      params: {},
      query: { client_id: 7 },
      body: { name: "reaching_used_space", bytes },
    });

    expect(requests[0]!.url).toBe("https://api.example/storage/notifications/v1/event?client_id=7");
    expect(await requests[0]!.text()).toBe(`{"name":"reaching_used_space","bytes":${bytes}}`);
    expect(created).toEqual({ name: "reaching_used_space", bytes });
  },
);

test("a request that violates the contract is a ZodError and is not sent", async () => {
  const { requests, fetch } = recorder('{"tasks":[]}');
  const { client, asleep } = openClient({ fetch });

  const call = client.call(updateContainer, {
    params: { project_id: 1, region_id: 2, container_name: ".." },
    query: {},
    body: {},
  });

  await expect(call).rejects.toBeInstanceOf(z.ZodError);
  expect(requests).toEqual([]);
  expect(asleep()).toBe(0);
});

test("an update of a storage event succeeds with any 2xx, with or without a body", async () => {
  for (const reply of [
    new Response(null, { status: 204 }),
    new Response("", { status: 200 }),
    new Response("OK", { status: 200 }),
  ]) {
    const { calls } = openClient({ fetch: async () => reply });

    expect(await calls["update-storage-event"]()).toBeUndefined();
  }
});

test("a pool is updated at the path in `paths`, and still read at the contract's", async () => {
  const { requests, fetch } = recorder('{"tasks":[],"id":"p","name":"pool","task_id":null}');
  const { client } = openClient({ fetch, paths: { [updatePool.id]: POOL_SUCCESSOR_PATH } });
  const pool_id = "9fccf0a3-c0de-441d-9afd-2b9b58b08b9f";
  const params = { project_id: 1, region_id: 2, pool_id };

  await client.call(updatePool, { params, query: {}, body: { name: "renamed" } });
  await client.call(getPool, { params, query: {}, body: undefined });

  expect(requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
    `PATCH https://api.example/cloud/v2/lbpools/1/2/${pool_id}`,
    `GET https://api.example/cloud/v1/lbpools/1/2/${pool_id}`,
  ]);
});
