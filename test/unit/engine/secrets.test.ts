import { describe, expect, test } from "vitest";
import type { Around } from "../../support/faults.ts";
import { json, type SeenRequest, scriptProvider } from "../../support/provider.ts";
import { updateContainer } from "../../support/requests.ts";
import { createWorld, type World } from "../../support/world.ts";

const TOKEN = 'p"ss\\word\n\t +/ é-0123456789\n';
const SHORT = "abc";
const PULL = "my-private-registry";
const request = (data: Readonly<Record<string, unknown>> = {}) =>
  updateContainer("c1", { envs: { TOKEN, SHORT, EMPTY: "" }, pull_secret: PULL }, data);

/** Everything a provider can do to leak: the text as sent, as JSON, in a URL, and cut off. */
const ECHOES: Readonly<Record<string, string>> = {
  "as it is": `cannot use ${TOKEN}, ${SHORT} or ${PULL}`,
  "inside a word": `x${TOKEN}x and y${PULL}y`,
  "as JSON text": JSON.stringify({ TOKEN, PULL, SHORT }),
  "as JSON text in JSON text": JSON.stringify({ sent: JSON.stringify({ TOKEN, PULL, SHORT }) }),
  "in a URL": `https://x/?a=${encodeURIComponent(TOKEN)}&b=${PULL}`,
  "as JSON text in a URL": `https://x/?body=${encodeURIComponent(JSON.stringify({ TOKEN, PULL }))}`,
  "as JSON text in a form": new URLSearchParams({
    body: JSON.stringify({ TOKEN, PULL }),
  }).toString(),
  "percent-encoded in lower case": encodeURIComponent(JSON.stringify({ TOKEN, PULL })).replace(
    /%../g,
    (code) => code.toLowerCase(),
  ),
  "percent-encoded twice": encodeURIComponent(encodeURIComponent(JSON.stringify({ TOKEN }))),
  "as JSON text of ASCII alone": JSON.stringify({ TOKEN }).replace("é", "\\u00e9"),
  "cut off inside an escape": `${"x".repeat(485)} ${encodeURIComponent(TOKEN).slice(0, 12)}`,
  "on one line": `cannot use ${TOKEN.replace(/\s+/g, " ")}`,
  "cut off": `${"x".repeat(485)} ${TOKEN}`,
};

/** Parts that would disclose a value; its first few letters do not. */
const LEAKS = ["ss\\word", "ss\\\\word", "ss%5Cword", "0123456789", "private-reg"];

const expectNoLeak = async (world: World): Promise<void> => {
  const stored = await Promise.all(
    ["command#own/c1", "task#local/t1", "task#local/t2"].map((key) => world.ledger.read(key)),
  );
  const everything = JSON.stringify([world.bus.published(), world.log.lines, stored]);
  // As parsed, and as JSON text in one and two layers: quotes and backslashes differ.
  const unescaped = everything.replaceAll("\\\\", "\\");
  const texts = [everything, unescaped, unescaped.replaceAll("\\\\", "\\")];
  expect(LEAKS.filter((leak) => texts.some((text) => text.includes(leak)))).toEqual([]);
};

const taskThat = (state: object) => () => json(200, { id: "t1", ...state });
const echo = (text: string) => (_request: SeenRequest) => json(400, { message: text });

describe.each(Object.entries(ECHOES))("secrets that the provider echoes %s", (_name, text) => {
  test("are not in the failure of a refused command", async () => {
    const provider = scriptProvider({ "PATCH ": echo(text) });
    const world = await createWorld({ provider: () => provider });

    await world.send(request());
    await world.untilQuiet();

    expect(world.publishedTypes("c1")).toEqual(["CommandAccepted", "CommandFailed"]);
    await expectNoLeak(world);
  });

  test("are not in the failure when the provider answers no JSON", async () => {
    const provider = scriptProvider({
      "PATCH ": () => new Response(text, { status: 400 }),
    });
    const world = await createWorld({ provider: () => provider });

    await world.send(request());
    await world.untilQuiet();

    await expectNoLeak(world);
  });

  test("are not in the rules of invalid fields, nor in their names", async () => {
    const invalid_fields = { [text]: [text] };
    const provider = scriptProvider({ "PATCH ": () => json(400, { invalid_fields }) });
    const world = await createWorld({ provider: () => provider });

    await world.send(request());
    await world.untilQuiet();

    await expectNoLeak(world);
  });

  test("are not in the end of a task", async () => {
    const provider = scriptProvider({
      "PATCH ": () => json(200, { tasks: ["t1", "t2"] }),
      "GET /v1/tasks/t1": taskThat({ state: "ERROR", error: text }),
      "GET /v1/tasks/t2": taskThat({ state: "FINISHED", error: text }),
    });
    const world = await createWorld({ provider: () => provider });

    await world.send(request());
    await world.untilQuiet();

    expect(world.publishedTypes("c1")).toEqual([
      "CommandAccepted",
      "TaskFailed",
      "TaskFailed",
      "CommandFailed",
    ]);
    await expectNoLeak(world);
  });
});

test("a failure to handle a command is logged without the command's secrets", async () => {
  const around: Around = ({ name }, effect) =>
    name === "ledger.write command#own/c1" || name === "bus.publish"
      ? Promise.reject(new Error("away"))
      : effect();
  const world = await createWorld({ provider: () => scriptProvider({}), around });

  await expect(world.handle(request())).rejects.toThrow("away");
  await expect(world.handle(request({ deadline: TOKEN }))).rejects.toThrow(
    "could not be published",
  );

  expect(world.log.lines.map(({ message }) => message)).toEqual([
    "message not handled; the queue delivers it again",
    "request rejected",
    "event not published",
    "message not handled; the queue delivers it again",
  ]);
  await expectNoLeak(world);
});

test("a request that breaks the contract is reported without its values", async () => {
  const world = await createWorld({ provider: () => scriptProvider({}) });

  await world.send(updateContainer("c1", { envs: TOKEN, pull_secret: [PULL] }));
  await world.send(updateContainer("c2", { envs: { A: [TOKEN] }, timeout: 999 }));
  await world.untilQuiet();

  expect(world.publishedTypes()).toEqual(["CommandRejected", "CommandRejected"]);
  await expectNoLeak(world);
});

test("the fingerprint cannot be compared without the key", async () => {
  const worldOf = () => createWorld({ provider: () => scriptProvider({}) });
  const [one, other] = [await worldOf(), await worldOf()];

  await one.handle(request());
  await other.handle(updateContainer("c1", { envs: { TOKEN: "other" } }));

  const prints = [await one.command("c1"), await other.command("c1")].map((c) => c?.fingerprint);
  expect(prints[0]).toMatch(/^[0-9a-f]{64}$/);
  expect(prints[0]).not.toBe(prints[1]);
});
