import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { startRun } from "./console-run.ts";
import { HOSTILE_CALL, openTab, overflow } from "./tab.ts";
import { visit } from "./visit.ts";

/** Text that executes, or breaks the layout, on a page that puts it into its HTML, an address or a script. */
const HOSTILE_TEXTS = [
  `<img src=x onerror="${HOSTILE_CALL}">`,
  `"><script>${HOSTILE_CALL}</script>`,
  `'></textarea></style><svg onload=${HOSTILE_CALL}>`,
  `javascript:${HOSTILE_CALL}`,
  `\${${HOSTILE_CALL}}{{constructor.constructor('${HOSTILE_CALL}')()}}`,
  "\u202eright to left\u2066 zero\u200b\u200dwidth\ufeff",
  "w".repeat(120),
];

/** Addresses of links that are no hash of the page and no HTTP address. */
const strangeLinks = (page: Page): Promise<unknown> =>
  page.evaluate(
    "[...document.links].map((link) => link.protocol).filter((name) => !/^(https?|blob):$/.test(name))",
  );

const hostileCommand = (text: string, index: number) => ({
  metadata: { commandId: text, correlationId: text },
  data: {
    operation: "update-container",
    params: { project_id: 1234567, region_id: 76, container_name: "my-container" },
    body: { description: text, image: text, envs: { [`NAME_${index}`]: text } },
  },
});

test("hostile text in commands, events and addresses is shown as text", async () => {
  const run = await startRun(["--no-demo"]);
  for (const [index, text] of HOSTILE_TEXTS.entries()) {
    await run.post("/commands", hostileCommand(text, index));
    await run.post("/commands", {
      metadata: { commandId: `no: ${text}` },
      data: { operation: text, params: { [text]: text }, body: { [text]: text } },
    });
    await run.post("/events", {
      source: text,
      "detail-type": text,
      detail: { [text]: text },
    });
  }
  const { page, troubles } = await openTab(390);
  await page.goto(run.pageUrl);
  for (const text of HOSTILE_TEXTS) {
    await page.getByRole("link", { name: text, exact: true }).waitFor();
  }
  const links = await page.getByRole("navigation", { name: "Pages" }).getByRole("link").all();
  const hashes = await Promise.all(links.map((link) => link.getAttribute("href")));
  const rows = await page.locator("main tbody a").all();
  const commands = await Promise.all(rows.map((link) => link.getAttribute("href")));
  const typed = HOSTILE_TEXTS.map(encodeURIComponent).flatMap((text) => [
    `#/commands?resource=${text}&status=${text}`,
    `#/commands/${text}/${text}`,
    `#/${text}`,
  ]);
  for (const hash of [...hashes, ...commands, ...typed]) {
    await visit(page, hash ?? "");
    expect(await strangeLinks(page), hash ?? "").toEqual([]);
    expect(await overflow(page), hash ?? "").toBe(0);
  }
  expect(troubles).toEqual([]);
});
