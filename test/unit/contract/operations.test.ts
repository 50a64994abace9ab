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

test("the mutations are the document's, in its order", () => {
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

test("the ids that a command may name are those of the operations that it may name", () => {
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

test("a bundle that needs only the ids has no schema in it, one for commands none of prices", async () => {
  expect(await modulesBundledFor("COMMANDED_IDS")).toEqual(["lib/contract/operations.ts"]);

  const forCommands = await modulesBundledFor("COMMANDED");
  expect(forCommands).toContain("lib/contract/containers.ts");
  expect(forCommands).not.toContain("lib/contract/instance-price.ts");
});

test("an id and an endpoint belong to one operation", () => {
  const endpoints = OPERATIONS.flatMap(endpointsOf).map(({ method, path }) => `${method} ${path}`);

  expect(new Set(OPERATIONS.map(({ id }) => id)).size).toBe(OPERATIONS.length);
  expect(new Set(endpoints).size).toBe(OPERATIONS.length + 2);
});

describe.each(OPERATIONS.map((operation) => ({ id: operation.id, operation })))(
  "the declaration of $id",
  ({ operation }) => {
    test("fills every placeholder of its path from a path parameter, and has no other", () => {
      expect(placeholdersOf(operation.path).sort()).toEqual(
        Object.keys(operation.params.shape).sort(),
      );
    });

    test("has a path that can be sent as written: absolute, no query, no doubled slash", () => {
      expect(operation.path).toMatch(/^(\/([a-z0-9_]+|\{[a-z_]+\}))+$/);
    });

    test("refuses unknown fields of a request", () => {
      for (const part of [operation.params, operation.query]) {
        expect(z.safeDecode<z.ZodType>(part, { surplus: 1 }).error?.issues).toContainEqual(
          expect.objectContaining({ code: "unrecognized_keys", keys: ["surplus"] }),
        );
      }
    });

    test("reads by GET without a body, except for the one read that is a preview", () => {
      const isPlainRead = operation.kind === "read" && operation.id !== "preview-instance-price";

      expect(operation.method === "GET").toBe(isPlainRead);
      expect(!isPlainRead || z.safeDecode<z.ZodType>(operation.body, undefined).success).toBe(true);
    });
  },
);

describe.each(MUTATIONS.map((operation) => ({ id: operation.id, operation })))(
  "the mutation $id",
  ({ operation }) => {
    test("names its lane by fields that its request has", () => {
      expect(operation.lane.by.length).toBeGreaterThan(0);
      for (const field of operation.lane.by) {
        expect(fieldSchema(operation, field), field).toBeInstanceOf(z.ZodType);
      }
    });

    test("has no lane field that a URL could not carry", () => {
      for (const field of operation.lane.by) {
        const schema = fieldSchema(operation, field);
        const halfAnEmoji = schema instanceof z.ZodType && schema.safeEncode("\ud83d").success;

        expect(halfAnEmoji, field).toBe(false);
      }
    });

    test("names secrets that its request has", () => {
      for (const field of operation.secrets ?? []) {
        expect(fieldSchema(operation, field), field).toBeInstanceOf(z.ZodType);
      }
    });

    test("answers with task ids exactly when it says so", () => {
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

test("the secrets of a container update are its variables and its pull secret", () => {
  expect(
    MUTATIONS.flatMap(
      (operation) => operation.secrets?.map((field) => [operation.id, field]) ?? [],
    ),
  ).toEqual([
    ["update-container", "body.envs"],
    ["update-container", "body.pull_secret"],
  ]);
});

test("what follows an ambiguous send, and what a conflict means, is the document's and the provider's", () => {
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

test("a field of a request is found by its place, and a missing one is undefined", () => {
  const request = { params: { id: 1 }, query: { "a.b": 2 }, body: { name: "n" } };

  const fields = ["params.id", "query.a.b", "body.name", "body.id"] as const;
  expect(requestFields(request, fields)).toEqual([1, 2, "n", undefined]);
  expect(requestFields({ params: {}, query: {} }, ["body.name"])).toEqual([undefined]);
});
