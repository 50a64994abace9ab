import { readFile } from "node:fs/promises";
import { Validator } from "@seriousme/openapi-schema-validator";
import { expect, test } from "vitest";
import { OPERATIONS } from "../../../lib/contract/operations.ts";
import { MOUNTED_ROUTES } from "../../../lib/service/routes.ts";
import { startService } from "./harness.ts";

const NO_KEY = { headers: { authorization: null } };

const textOf = async (path: string): Promise<{ type: string | null; text: string }> => {
  const { service } = await startService();
  const response = await service.fetch(new Request(`http://service.test${path}`));
  return { type: response.headers.get("content-type"), text: await response.text() };
};

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

  const { text } = await textOf("/openapi.json");

  expect(JSON.parse(text)).toEqual(JSON.parse(kept));
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

test("/docs contains every operation with its path, and loads no external resource", async () => {
  const { type, text } = await textOf("/docs");

  expect(type).toMatch(/^text\/html/);
  for (const { id, path } of OPERATIONS) {
    expect(text).toContain(`<section id="${id}">`);
    expect(text).toContain(path);
  }
  expect(text).toContain("1 to 65535");
  expect(text).toContain("<h3>Response 204</h3><p>Done; the response has no body.</p>");
  expect(text).not.toMatch(/<script|src=|@import|https?:\/\//);
});

test("the OpenAPI document and /docs state cross-field rules in words", async () => {
  const { send } = await startService();

  const { paths } = (await send("GET", "/openapi.json", NO_KEY)).body;
  const { text } = await textOf("/docs");

  const preview = paths["/cloud/v2/pricing/{project_id}/{region_id}/instances"].post;
  const rule = "names: give exactly one of names and name_templates";
  expect(preview.requestBody.content["application/json"].schema.description).toBe(rule);
  expect(text).toContain(rule);
  expect(text).toContain("min: must not exceed max");
  expect(text).toContain("network_id: required with type manual");
  expect(text).toMatch(
    /<code>page<\/code>\s*<span class="note">in query; integer; 1 to 9007199254740991; default 1</,
  );
});

test("/docs and /openapi.json accept only GET", async () => {
  const { send } = await startService();

  for (const path of ["/docs", "/openapi.json"]) {
    const answer = await send("POST", path, { body: {} });
    expect([answer.status, answer.headers.get("allow")]).toEqual([405, "GET"]);
  }
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

/** The distinct rules of all fields of that name on the page. */
const rulesOn = (page: string, field: string): readonly string[] => {
  const item = new RegExp(
    `<code>${field}</code>(?: \\(required\\))? <span class="note">([^<]*)</span>`,
    "g",
  );
  return [...new Set([...page.matchAll(item)].map(([, rule = ""]) => rule))];
};

test("/docs mentions null beside the type, because after the rules it would change their meaning", async () => {
  const { text } = await textOf("/docs");

  expect(rulesOn(text, "envs")[0]).toBe(
    "object or null; variables by name, replaced as a whole; no variable may be named __proto__; each name: string; matching ^[a-zA-Z_][a-zA-Z0-9_]{0,254}$; each value: string; at most 255 characters",
  );
  expect(rulesOn(text, "is_api_key_auth")).toContain(
    "boolean or null; enabling key authentication is temporarily unavailable",
  );
  expect(rulesOn(text, "scale")).toContain("object or null; min: must not exceed max");
  expect(rulesOn(text, "ip_family")).toEqual([
    "one of ipv4, ipv6, dual, or null; IP versions of the interface",
  ]);
  expect(rulesOn(text, "name_templates")).toEqual([
    "list of (string or null); one instance for each template; placeholders such as {ip_octets} are allowed",
  ]);
  expect(rulesOn(text, "address")).toContain(
    "string (ipv4) or string (ipv6); an IPv4 or IPv6 address",
  );
  expect(rulesOn(text, "routes")).toContain("list of object, or null");
  expect(rulesOn(text, "key")).toContain("in query; string; 1 to 255 characters");
  expect(text).not.toMatch(/(characters|\d|\$|name|max|unavailable) or null/);
});

test("/docs lists the errors of every operation and their meaning", async () => {
  const { text } = await textOf("/docs");

  for (const { id, family } of OPERATIONS) {
    const section = text.slice(text.indexOf(`<section id="${id}">`)).split("</section>")[0];
    const record = `${family.slice(0, 1).toUpperCase()}${family.slice(1)}Error`;
    expect(section).toContain(
      `<a href="#errors">400, 401, 403, 404, 409, 413, 415, 429</a>: <a href="#${record}">${record}</a>`,
    );
  }
  expect(text).toMatch(/<section id="errors">[\s\S]*<b>409<\/b> A running task locks the resource/);
  for (const [, target] of text.matchAll(/href="#([\w-]+)"/g)) {
    expect(text).toContain(`<section id="${target}">`);
  }
});

test("/docs has one column on a narrow screen, and long words break", async () => {
  const { text } = await textOf("/docs");

  expect(text).toMatch(/nav \{ columns: 24rem 2 \}/);
  expect(text).toMatch(/body \{[^}]*overflow-wrap: anywhere/);
});
