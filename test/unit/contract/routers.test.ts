import { describe, expect, test } from "vitest";
import { createRouter, routerCreateSchema } from "../../../lib/contract/routers.ts";
import { accepted, bothWays, received, refused } from "./both-ways.ts";

const ID = "9b8d3a10-0d8c-4c3c-9d2e-2d4b1d0e4a11";
const NAME_RULE =
  "3 to 63 letters, digits, spaces, dots, underscores or hyphens; starts with a letter or digit, does not end with a space or hyphen";
const CIDR_RULE = "an IPv4 or IPv6 network in CIDR form";

const router = (change: object = {}) => ({ name: "my router", ...change });
const gateway = (external_gateway_info: unknown) => router({ external_gateway_info });
const route = (destination: unknown, nexthop: unknown = "10.0.0.1", more: object = {}) =>
  router({ routes: [{ destination, nexthop, ...more }] });

describe("the body of create-router accepts", () => {
  test.each([
    router(),
    router({ name: "a.b" }),
    router({ name: "r".repeat(63) }),
    router({ external_gateway_info: null, interfaces: null, routes: null }),
    router({ interfaces: [], routes: [] }),
    router({ interfaces: [{ subnet_id: ID }, { subnet_id: ID, type: "subnet" }] }),
    gateway({}),
    gateway({ enable_snat: true }),
    gateway({ network_id: ID }),
    gateway({ type: "default" }),
    gateway({ type: "default", enable_snat: false }),
    gateway({ type: "manual", network_id: ID, enable_snat: true }),
    route("0.0.0.0/0"),
    route("10.0.0.0/32"),
    route("2001:db8::/128", "2001:db8::1"),
    route("::/0"),
  ])("%j", (body) => {
    expect(bothWays(routerCreateSchema(), body)).toEqual(accepted(body));
  });
});

describe("the body of create-router refuses", () => {
  test.each([
    ["name: required", {}],
    ["name: a string, not null", router({ name: null })],
    [`name: ${NAME_RULE}`, router({ name: "ab" })],
    [`name: ${NAME_RULE}`, router({ name: "r".repeat(64) })],
    ["external_gateway_info: an object", gateway("default")],
    ["external_gateway_info.type: one of default, manual", gateway({ type: null })],
    ["external_gateway_info.network_id: required with type manual", gateway({ type: "manual" })],
    ["external_gateway_info.network_id: a UUID", gateway({ type: "manual", network_id: "ext" })],
    [
      "external_gateway_info.network_id: must not be given with type default",
      gateway({ type: "default", network_id: ID }),
    ],
    [
      "external_gateway_info.enable_snat: true or false, not null",
      gateway({ type: "default", enable_snat: null }),
    ],
    ["interfaces.0.subnet_id: required", router({ interfaces: [{}] })],
    [
      "interfaces.0.type: must be subnet",
      router({ interfaces: [{ subnet_id: ID, type: "port" }] }),
    ],
    ["interfaces: a list", router({ interfaces: { subnet_id: ID } })],
    [`routes.0.destination: ${CIDR_RULE}`, route("10.0.0.0")],
    [`routes.0.destination: ${CIDR_RULE}`, route("10.0.0.0/33")],
    [`routes.0.destination: ${CIDR_RULE}`, route("::/129")],
    [`routes.0.destination: ${CIDR_RULE}`, route(null)],
    ["routes.0.nexthop: an IPv4 or IPv6 address", route("0.0.0.0/0", "gateway")],
    ["routes.0.metric: unknown field", route("::/0", "::1", { metric: 1 })],
    ["enable_snat: unknown field", router({ enable_snat: true })],
  ])("%s", (problem, body) => {
    expect(bothWays(routerCreateSchema(), body)).toEqual(refused(problem));
  });
});

test("both missing fields of an empty route are reported", () => {
  expect(bothWays(routerCreateSchema(), router({ routes: [{}] }))).toEqual(
    refused("routes.0.destination: required", "routes.0.nexthop: required"),
  );
});

test("the reply to create-router has task ids", () => {
  expect(received(createRouter.response, '{"tasks":["a"]}')).toEqual({ tasks: ["a"] });
});
