import { describe, expect, it } from "vitest";
import { updateContainer } from "../../../lib/contract/containers.ts";
import { previewInstancePrice } from "../../../lib/contract/instance-price.ts";
import { updatePool } from "../../../lib/contract/load-balancer-pools.ts";
import type { Operation } from "../../../lib/contract/operation.ts";
import { fieldsOf } from "../../../lib/contract/operation-fields.ts";
import { MUTATIONS, READS } from "../../../lib/contract/operations.ts";
import { createRouter } from "../../../lib/contract/routers.ts";
import { updateStorageEvent } from "../../../lib/contract/storage-events.ts";
import { listTasks } from "../../../lib/contract/tasks.ts";

const rows = (operation: Operation): readonly string[] =>
  fieldsOf(operation).map(({ place, name, required, type, rule }) =>
    [`${place}.${name}`, required ? "required" : "optional", type, rule].join(" | "),
  );

describe("the fields of an operation", () => {
  it("include nested fields and variants, each with its limits", () => {
    expect(rows(createRouter)).toEqual([
      "params.project_id | required | number | whole number",
      "params.region_id | required | number | whole number",
      "body.name | required | text | 3 to 63 letters, digits, spaces, dots, underscores or hyphens; starts with a letter or digit, does not end with a space or hyphen",
      "body.external_gateway_info | optional | json | object, or null",
      "body.external_gateway_info.type | optional | text | one of default, manual",
      "body.external_gateway_info.network_id | optional | text | a UUID; required with type manual; must not be given with type default",
      "body.external_gateway_info.enable_snat | optional | true|false | true or false",
      "body.interfaces | optional | json | list of object, or null",
      "body.interfaces[].type | optional | text | always subnet",
      "body.interfaces[].subnet_id | required | text | a UUID",
      "body.routes | optional | json | list of object, or null",
      "body.routes[].destination | required | text | an IPv4 or IPv6 network in CIDR form",
      "body.routes[].nexthop | required | text | an IPv4 or IPv6 address",
    ]);
  });

  it.each(
    (
      [
        [
          updateContainer,
          "body.scale.min | required | number | whole number 0 to 25; must not exceed max",
        ],
        [
          updateContainer,
          "body.scale.triggers.http.rate | required | number | whole number 1 to 1000",
        ],
        [updateContainer, "body.flavor | optional | text | a size such as 250mCPU-512MiB, or null"],
        [
          updateContainer,
          "body.listening_port | optional | number | whole number 1 to 65535, or null",
        ],
        [
          updatePool,
          "body.members[].instance_id | optional | text | a UUID, or null; give subnet_id or instance_id, not both",
        ],
        [
          updatePool,
          "body.healthmonitor.timeout | required | number | whole number 0 to 2147483; must be below delay",
        ],
        [
          updateStorageEvent,
          "body.bytes | optional | number | whole number 0 to 18446744073709551615; not allowed with reaching_files_quantity; use count",
        ],
        [
          updateStorageEvent,
          "query.client_id | optional | number | a whole number from -9223372036854775808 to 9223372036854775807",
        ],
        [listTasks, "query.from_timestamp | optional | text | a time such as 2026-01-31T12:00:00Z"],
        [listTasks, "query.project_id | optional | json | list of whole number"],
      ] as const
    ).map(([operation, row]) => [operation.id, row, operation] as const),
  )("of %s hold the limit: %s", (_, row, operation) => {
    expect(rows(operation)).toContain(row);
  });

  it("name the variants that have and that require a field", () => {
    expect(rows(previewInstancePrice).filter((row) => /body\.interfaces\[\]/.test(row))).toEqual([
      "body.interfaces[].type | required | text | one of external, subnet, any_subnet, reserved_fixed_ip",
      "body.interfaces[].interface_name | optional | text | text; at most 37 characters, or null",
      "body.interfaces[].security_groups | optional | json | list of object",
      "body.interfaces[].security_groups[].id | required | text | a UUID",
      "body.interfaces[].ip_family | optional | text | one of ipv4, ipv6, dual, or null; only with type external, any_subnet",
      "body.interfaces[].network_id | optional | text | a UUID; required with type subnet, any_subnet",
      "body.interfaces[].subnet_id | optional | text | a UUID; required with type subnet",
      "body.interfaces[].floating_ip | optional | json | object, or null; only with type subnet, any_subnet, reserved_fixed_ip",
      "body.interfaces[].floating_ip.source | required | text | one of new, existing",
      "body.interfaces[].floating_ip.existing_floating_id | optional | text | a UUID; required with source existing",
      "body.interfaces[].ip_address | optional | text | an IPv4 or IPv6 address, or null; only with type any_subnet",
      "body.interfaces[].port_id | optional | text | text; required with type reserved_fixed_ip",
    ]);
  });

  it("mark secrets as never shown", () => {
    expect(rows(updateContainer).filter((row) => row.endsWith("; secret, never shown"))).toEqual([
      "body.envs | optional | json | object; each name: letters, digits and underscores, no digit first, at most 255 characters; each value: text; at most 255 characters, or null; secret, never shown",
      "body.pull_secret | optional | text | text, or null; secret, never shown",
    ]);
  });

  it.each([...MUTATIONS, ...READS].map((operation) => [operation.id, operation] as const))(
    "of %s are described without regular expressions",
    (_id, operation) => {
      expect(rows(operation).filter((row) => /\[\^?[a-zA-Z]-|\\|undefined|\$/.test(row))).toEqual(
        [],
      );
    },
  );

  it.each([...MUTATIONS, ...READS].map((operation) => [operation.id, operation] as const))(
    "of %s are listed once each",
    (_id, operation) => {
      const names = fieldsOf(operation).map(({ place, name }) => `${place}.${name}`);

      expect(new Set(names).size).toBe(names.length);
    },
  );
});
