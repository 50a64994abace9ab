import { readFile } from "node:fs/promises";
import { Validator } from "@seriousme/openapi-schema-validator";
import { expect, test } from "vitest";
import { MOUNTED_ROUTES } from "../../../lib/service/routes.ts";
import { startService } from "./harness.ts";

const NO_KEY = { headers: { authorization: null } };

test("the OpenAPI document needs no key, and an independent validator accepts it", async () => {
  const { send } = await startService();

  const answer = await send("GET", "/openapi.json", NO_KEY);

  expect(answer.status).toBe(200);
  expect(answer.body.openapi).toBe("3.1.1");
  expect(await new Validator().validate(answer.body)).toEqual({ valid: true });
});

test("the OpenAPI document has every endpoint of the service, and no other", async () => {
  const { send } = await startService();

  const { body } = await send("GET", "/openapi.json", NO_KEY);

  const documented = Object.entries(body.paths).flatMap(([path, methods]) =>
    Object.keys(methods as object).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const mounted = MOUNTED_ROUTES.map(({ endpoint }) => `${endpoint.method} ${endpoint.path}`);
  expect(documented.sort()).toEqual(mounted.sort());
});

test("lib/contract/openapi.json equals the served document", async () => {
  const kept = await readFile(
    new URL("../../../lib/contract/openapi.json", import.meta.url),
    "utf8",
  );

  const { send } = await startService();
  expect((await send("GET", "/openapi.json", NO_KEY)).body).toEqual(JSON.parse(kept));
});

test("the OpenAPI document contains the limits and required fields of the interface document", async () => {
  const { send } = await startService();

  const { paths } = (await send("GET", "/openapi.json", NO_KEY)).body;

  const container =
    paths["/cloud/v1/caas/{project_id}/{region_id}/containers/{container_name}"].patch.requestBody;
  const fields = container.content["application/json"].schema.properties;
  expect(fields.listening_port.anyOf[0]).toMatchObject({ minimum: 1, maximum: 65_535 });
  expect(fields.description.anyOf[0]).toMatchObject({ maxLength: 255 });
  const event =
    paths["/storage/notifications/v1/event"].put.requestBody.content["application/json"];
  expect(event.schema).toMatchObject({
    required: ["name"],
    properties: { bytes: { type: "integer", format: "uint64", minimum: 0 } },
  });
  const pool = "lbpools/{project_id}/{region_id}/{pool_id}";
  expect(paths[`/cloud/v1/${pool}`].patch.deprecated).toBe(true);
  expect(paths[`/cloud/v2/${pool}`].patch).not.toHaveProperty("deprecated");
  expect(Object.keys(paths[`/cloud/v1/${pool}`].patch.responses[200].headers)).toEqual([
    "Deprecation",
    "Link",
  ]);
  expect(paths[`/cloud/v2/${pool}`].patch.responses[200]).not.toHaveProperty("headers");
});

test("the OpenAPI document states cross-field rules in words", async () => {
  const { send } = await startService();

  const { paths } = (await send("GET", "/openapi.json", NO_KEY)).body;

  const preview = paths["/cloud/v2/pricing/{project_id}/{region_id}/instances"].post;
  const rule = "names: give exactly one of names and name_templates";
  expect(preview.requestBody.content["application/json"].schema.description).toBe(rule);
  const text = JSON.stringify(paths);
  expect(text).toContain("min: must not exceed max");
  expect(text).toContain("network_id: required with type manual");
});

test("every integer of a request has bounds in the OpenAPI document", async () => {
  const { send } = await startService();

  const { paths } = (await send("GET", "/openapi.json", NO_KEY)).body;

  interface Described {
    readonly parameters?: unknown;
    readonly requestBody?: unknown;
  }
  const unbounded: string[] = [];
  const check = (node: unknown, place: string): void => {
    if (typeof node !== "object" || node === null) return;
    const isWhole = "type" in node && [node.type].flat().includes("integer");
    // These two formats imply the bounds.
    const hasFormat = "format" in node && ["int64", "uint64"].includes(String(node.format));
    if (isWhole && !hasFormat && !("minimum" in node && "maximum" in node)) unbounded.push(place);
    for (const [key, inner] of Object.entries(node)) check(inner, `${place}.${key}`);
  };
  for (const [path, methods] of Object.entries<Record<string, Described>>(paths)) {
    for (const [method, { parameters, requestBody }] of Object.entries(methods)) {
      check({ parameters, requestBody }, `${method} ${path}`);
    }
  }
  expect(unbounded).toEqual([]);
});

test.each([
  ["GET", "/cloud/v1/tasks?offset=9007199254740991", 200],
  ["GET", "/cloud/v1/tasks?offset=9007199254740992", 400],
  ["GET", "/cloud/v1/tasks?project_id=9007199254740991", 200],
  ["GET", "/cloud/v1/tasks?project_id=9007199254740992", 400],
  ["GET", "/streaming/ai/tasks?page=9007199254740991", 200],
  ["GET", "/streaming/ai/tasks?page=9007199254740992", 400],
  ["GET", "/streaming/ai/tasks?limit=9007199254740991&page=9007199254740991", 200],
  ["GET", "/cloud/v1/lifecycle_policy/9007199254740991/1/1", 404],
  ["GET", "/cloud/v1/lifecycle_policy/9007199254740992/1/1", 400],
  ["GET", "/cloud/v1/lifecycle_policy/1/1/-9007199254740992", 400],
])(
  "the service enforces the bounds of the OpenAPI document: %s %s is %i",
  async (method, path, status) => {
    const { send } = await startService();

    expect((await send(method, path)).status).toBe(status);
  },
);
