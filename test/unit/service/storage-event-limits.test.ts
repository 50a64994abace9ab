import Big from "big.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import { BUILT_IN_API_KEYS } from "../../../lib/service/state/keys.ts";
import { EVENT, startService } from "./harness.ts";

const EVENTS = "/storage/notifications/v1/events";
const MAX_UINT64 = 18_446_744_073_709_551_615n;

test.each([
  ["bytes", "reaching_used_space"],
  ["count", "reaching_files_quantity"],
  ["bytes", "reaching_used_traffic"],
  ["count", "reaching_used_traffic"],
  ["bytes", "reaching_used_requests"],
  ["count", "reaching_used_requests"],
])("%s of %s stays exact up to 18446744073709551615", async (field, name) => {
  const { send } = await startService();
  const target = { name, storage_name: "big" };

  const created = await send("POST", EVENT, { body: { ...target, [field]: MAX_UINT64 } });
  const read = (await send("GET", EVENTS)).body[name];
  const updated = await send("PUT", EVENT, { body: { ...target, [field]: MAX_UINT64 - 1n } });
  const readAgain = (await send("GET", EVENTS)).body[name];

  expect(created.body[field]).toBe(18_446_744_073_709_551_615n);
  expect(read).toContainEqual(expect.objectContaining({ [field]: 18_446_744_073_709_551_615n }));
  expect(updated.status).toBe(204);
  expect(readAgain).toContainEqual(
    expect.objectContaining({ [field]: 18_446_744_073_709_551_614n }),
  );
});

test("the response contains the exact number, neither rounded nor quoted", async () => {
  const { service } = await startService();

  const response = await service.fetch(
    new Request(`http://service.test${EVENT}`, {
      method: "POST",
      headers: {
        authorization: `apikey ${BUILT_IN_API_KEYS.first}`,
        "content-type": "application/json",
      },
      body: '{"name":"reaching_used_space","bytes":18446744073709551615}',
    }),
  );

  expect(await response.text()).toMatch(/"bytes":18446744073709551615[,}]/);
});

test.each([
  ["one more than the maximum", "18446744073709551616"],
  ["minus one", "-1"],
  ["one more than the maximum, with an exponent", "1.8446744073709551616e19"],
  ["a number with a billion digits", "1e999999999"],
  ["minus that", "-1e999999999"],
  ["a fraction", "1.5"],
  ["what rounding would make 1", "0.99999999999999999999"],
  ["what rounding would make 0", "1e-999999999"],
  ["a decimal string", '"500"'],
  ["null", "null"],
])("a limit of %s is refused and changes nothing", async (_, bytes) => {
  const { send, stored } = await startService();
  const before = await stored();

  const text = `{"name":"reaching_used_space","bytes":${bytes}}`;
  const refused = await send("POST", EVENT, { text });

  expect(refused.status).toBe(400);
  expect(refused.body.error).toMatch(/^bytes: .*a whole number from 0 to 18446744073709551615$/);
  expect(await stored()).toEqual(before);
});

test.each([
  ["1e19", "10000000000000000000"],
  ["1.0", "1"],
  ["18446744073709551615.0", "18446744073709551615"],
  ["1.8446744073709551615e19", "18446744073709551615"],
  ["0e999999999", "0"],
])(
  "a limit in the form %s is the integer %s and is returned in plain digits",
  async (bytes, digits) => {
    const { send, service } = await startService();
    const event = `{"name":"reaching_used_space","storage_name":"big","bytes":${bytes}}`;

    const created = await send("POST", EVENT, { text: event });
    const headers = { authorization: `apikey ${BUILT_IN_API_KEYS.first}` };
    const listed = await service.fetch(new Request(`http://service.test${EVENTS}`, { headers }));

    expect([created.status, String(created.body.bytes)]).toEqual([200, digits]);
    expect(await listed.text()).toMatch(
      new RegExp(`"storage_name":"big",[^{]*"bytes":${digits}[,}]`),
    );
  },
);

test("0 is a valid limit", async () => {
  const { send } = await startService();

  const created = await send("POST", EVENT, { body: { name: "reaching_used_space", bytes: 0 } });

  expect(created.body.bytes).toBe(0);
});

test("a limit is accepted if and only if it is an unsigned 64-bit integer in any JSON notation", async () => {
  const { send } = await startService();
  const mantissa = fc.oneof(
    fc.bigInt({ min: 0n, max: MAX_UINT64 }),
    fc.bigInt({ min: MAX_UINT64 - 3n, max: MAX_UINT64 + 3n }),
    fc.constantFrom(0n, 1n, 10n, 10n ** 19n),
  );
  const event = { name: "reaching_used_space", storage_name: "written" };
  await send("POST", EVENT, { body: event });
  await fc.assert(
    fc.asyncProperty(
      mantissa,
      fc.integer({ min: 0, max: 25 }),
      fc.integer({ min: -25, max: 25 }),
      fc.constantFrom("e", "E"),
      async (digits, decimals, exponent, letter) => {
        const written = `${Big(`${digits}e-${decimals}`).toFixed(decimals)}${letter}${exponent}`;
        const value = Big(`${digits}e${exponent - decimals}`);
        const isInteger = value.eq(value.round(0, Big.roundDown));

        const text = `{"name":"reaching_used_space","storage_name":"written","bytes":${written}}`;
        const { status } = await send("PUT", EVENT, { text });

        const fits = isInteger && value.lte(Big(String(MAX_UINT64)));
        expect(status).toBe(fits ? 204 : 400);
        if (!fits) return;
        const listed = (await send("GET", EVENTS)).body.reaching_used_space;
        const mine = listed.find(
          (one: { storage_name?: string }) => one.storage_name === "written",
        );
        expect(String(mine.bytes)).toBe(value.toFixed());
      },
    ),
    { numRuns: 500 },
  );
});
