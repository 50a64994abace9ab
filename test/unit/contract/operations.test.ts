import { build } from "esbuild";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { endpointsOf, requestFields } from "../../../lib/contract/operation.ts";
import {
  COMMANDED,
  COMMANDED_IDS,
  MUTATIONS,
  OPERATIONS,
} from "../../../lib/contract/operations.ts";

const placeholdersOf = (path: string) => [...path.matchAll(/\{([^}]*)\}/g)].map(([, name]) => name);

const fieldSchema = (operation: (typeof OPERATIONS)[number], field: string): unknown => {
  const { params, query, body } = operation;
  const places = new Map<string, z.ZodType>(Object.entries({ params, query, body }));
  const [place = "", name = ""] = field.split(".");
  const schema = places.get(place);
  return schema instanceof z.ZodObject ? schema.shape[name] : undefined;
};

test("the mutations are those of the document, in its order", () => {
  expect(MUTATIONS.map(({ reference, id }) => `${reference} ${id}`)).toEqual([
    "E1 update-container",
    "E2 resume-instance",
    "E4 remove-policy-volumes",
    "E5 update-policy",
    "E8 update-pool",
    "E10 update-storage-event",
    "E11 create-router",
    "E15 create-storage-event",
  ]);
});

test("COMMANDED_IDS and COMMANDED contain the same operations", () => {
  expect(COMMANDED_IDS).toEqual(COMMANDED.map(({ id }) => id));
});

const modulesBundledFor = async (list: string): Promise<readonly string[]> => {
  const contents = `export { ${list} } from "./lib/contract/operations.ts";`;
  const { metafile } = await build({
    stdin: { contents, resolveDir: process.cwd() },
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    packages: "external",
  });
  return Object.values(metafile.outputs)
    .flatMap(({ inputs }) => Object.entries(inputs))
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
    .map(([file]) => file);
};

test("a bundle that imports only the ids contains no schema, and one for commands contains no price schema", async () => {
  expect(await modulesBundledFor("COMMANDED_IDS")).toEqual(["lib/contract/operations.ts"]);

  const forCommands = await modulesBundledFor("COMMANDED");
  expect(forCommands).toContain("lib/contract/containers.ts");
  expect(forCommands).not.toContain("lib/contract/instance-price.ts");
});

test("each id and each endpoint belongs to one operation only", () => {
  const endpoints = OPERATIONS.flatMap(endpointsOf).map(({ method, path }) => `${method} ${path}`);

  expect(new Set(OPERATIONS.map(({ id }) => id)).size).toBe(OPERATIONS.length);
  expect(new Set(endpoints).size).toBe(OPERATIONS.length + 2);
});

describe.each(OPERATIONS.map((operation) => ({ id: operation.id, operation })))(
  "the declaration of $id",
  ({ operation }) => {
    test("has one path parameter for every placeholder of its path", () => {
      expect(placeholdersOf(operation.path).sort()).toEqual(
        Object.keys(operation.params.shape).sort(),
      );
    });

    test("has an absolute path without query or double slash", () => {
      expect(operation.path).toMatch(/^(\/([a-z0-9_]+|\{[a-z_]+\}))+$/);
    });

    test("refuses unknown fields of a request", () => {
      for (const part of [operation.params, operation.query]) {
        expect(z.safeDecode<z.ZodType>(part, { surplus: 1 }).error?.issues).toContainEqual(
          expect.objectContaining({ code: "unrecognized_keys", keys: ["surplus"] }),
        );
      }
    });

    test("is a GET without a body if it is a read, except for the price preview", () => {
      const isPlainRead = operation.kind === "read" && operation.id !== "preview-instance-price";

      expect(operation.method === "GET").toBe(isPlainRead);
      expect(!isPlainRead || z.safeDecode<z.ZodType>(operation.body, undefined).success).toBe(true);
    });
  },
);

describe.each(MUTATIONS.map((operation) => ({ id: operation.id, operation })))(
  "the mutation $id",
  ({ operation }) => {
    test("builds its lane from fields of its request", () => {
      expect(operation.lane.by.length).toBeGreaterThan(0);
      for (const field of operation.lane.by) {
        expect(fieldSchema(operation, field), field).toBeInstanceOf(z.ZodType);
      }
    });

    test("has no path field in its lane that a URL cannot contain", () => {
      for (const field of operation.lane.by) {
        const schema = fieldSchema(operation, field);
        const halfAnEmoji = schema instanceof z.ZodType && schema.safeEncode("\ud83d").success;

        expect(halfAnEmoji, field).toBe(false);
      }
    });

    test("declares only fields of its request as secret", () => {
      for (const field of operation.secrets ?? []) {
        expect(fieldSchema(operation, field), field).toBeInstanceOf(z.ZodType);
      }
    });

    test("replies with task ids exactly if it declares them", () => {
      const reply = z.safeDecode<z.ZodType>(operation.response, { tasks: ["a"] });

      expect(reply.success).toBe(operation.answers === "tasks");
    });

    test("has the same parameters at each of its endpoints", () => {
      for (const { path } of endpointsOf(operation)) {
        expect(placeholdersOf(path)).toEqual(placeholdersOf(operation.path));
      }
    });
  },
);

test("the secrets of a container update are envs and pull_secret", () => {
  expect(
    MUTATIONS.flatMap(
      (operation) => operation.secrets?.map((field) => [operation.id, field]) ?? [],
    ),
  ).toEqual([
    ["update-container", "body.envs"],
    ["update-container", "body.pull_secret"],
  ]);
});

test("the strategy after an ambiguous send and the meaning of 409 are as agreed for each mutation", () => {
  expect(
    MUTATIONS.map(
      ({ id, afterAmbiguousSend, conflictMeansLocked }) =>
        `${id}: ${afterAmbiguousSend}${conflictMeansLocked ? ", 409 is a lock" : ""}`,
    ),
  ).toEqual([
    "update-container: send-again, 409 is a lock",
    "resume-instance: send-again-unless-done, 409 is a lock",
    "remove-policy-volumes: send-again",
    "update-policy: send-again",
    "update-pool: send-again-when-unlocked, 409 is a lock",
    "update-storage-event: send-again",
    "create-router: look-for-effect",
    "create-storage-event: conflict-means-created",
  ]);
});

test("requestFields finds fields in params, query and body, and returns undefined for a missing one", () => {
  const request = { params: { id: 1 }, query: { "a.b": 2 }, body: { name: "n" } };

  const fields = ["params.id", "query.a.b", "body.name", "body.id"] as const;
  expect(requestFields(request, fields)).toEqual([1, 2, "n", undefined]);
  expect(requestFields({ params: {}, query: {} }, ["body.name"])).toEqual([undefined]);
});
