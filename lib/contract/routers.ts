import * as z from "zod";
import { lazy } from "./lazy.ts";
import { mutation, read } from "./operation.ts";
import {
  cidr,
  ipAddress,
  nothing,
  oneOf,
  projectAndRegion,
  resourceName,
  tasksReply,
  uuid,
} from "./values.ts";

/**
 * Both gateway variants: `default` takes the region's external network, `manual` takes the given one. The
 * published interface makes `type` optional; a `network_id` without `type` means `manual`.
 */
const externalGatewaySchema = lazy(() =>
  z
    .strictObject({
      type: oneOf(["default", "manual"]).optional(),
      network_id: uuid().optional(),
      enable_snat: z.boolean().optional(),
    })
    .refine(({ type, network_id }) => type !== "manual" || network_id !== undefined, {
      path: ["network_id"],
      error: "required with type manual",
    })
    .refine(({ type, network_id }) => type !== "default" || network_id === undefined, {
      path: ["network_id"],
      error: "must not be given with type default",
    }),
);

const routeSchema = lazy(() => z.strictObject({ destination: cidr(), nexthop: ipAddress() }));

export const routerCreateSchema = lazy(() =>
  z.strictObject({
    name: resourceName(),
    external_gateway_info: externalGatewaySchema().nullable().optional(),
    interfaces: z
      .array(z.strictObject({ type: z.literal("subnet").optional(), subnet_id: uuid() }))
      .nullable()
      .optional(),
    routes: z.array(routeSchema()).nullable().optional(),
  }),
);

/** The fields of a router record that identify a router which the automation created. */
export const routerSchema = lazy(() =>
  z
    .looseObject({
      id: z.string(),
      name: z.string(),
      interfaces: z.array(
        z.looseObject({ ip_assignments: z.array(z.looseObject({ subnet_id: z.string() })) }),
      ),
      routes: z.array(z.looseObject({ destination: z.string(), nexthop: z.string() })),
      task_id: z.string().nullable().describe("task that locks the router; null if none does"),
    })
    .meta({ id: "Router" }),
);

export const createRouter = mutation({
  id: "create-router",
  reference: "E11",
  summary: "Create a router with interfaces and routes",
  method: "POST",
  path: "/cloud/v1/routers/{project_id}/{region_id}",
  schemas: () => ({
    params: z.strictObject(projectAndRegion()),
    query: nothing(),
    body: routerCreateSchema(),
    response: tasksReply(),
  }),
  answers: "tasks",
  lane: { resource: "router", by: ["params.project_id", "params.region_id"] },
  afterAmbiguousSend: "look-for-effect",
});

export const getRouter = read({
  id: "get-router",
  reference: "GET router",
  summary: "Read one router",
  path: "/cloud/v1/routers/{project_id}/{region_id}/{router_id}",
  schemas: () => ({
    params: z.strictObject({ ...projectAndRegion(), router_id: uuid() }),
    query: nothing(),
    response: routerSchema(),
  }),
});
