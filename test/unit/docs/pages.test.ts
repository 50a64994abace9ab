import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import GithubSlugger from "github-slugger";
import { marked, type Token, type Tokens } from "marked";
import { describe, expect, it } from "vitest";
import { parse as parseYaml } from "yaml";
import * as z from "zod";
import type { ConfigReading } from "../../../lib/config/config-file.ts";
import { readRequest } from "../../../lib/engine/read-request.ts";
import { EVENT_DATA, metadataSchema } from "../../../lib/events/catalogue.ts";
import { readReactions } from "../../../lib/intake/config-files.ts";
import { readPattern } from "../../../lib/intake/event-patterns/pattern.ts";
import { readTaskFollow } from "../../../lib/intake/ingest.ts";
import { readWatchlist } from "../../../lib/jobs/prices/watchlist.ts";
import { readThresholdConfig } from "../../../lib/jobs/thresholds/config.ts";
import { createAccess } from "../../../lib/provider/access.ts";
import { ownAccount } from "../../../lib/provider/accounts-config.ts";
import { readAccountsFile } from "../../../lib/provider/accounts-file.ts";
import { faultRuleSchema } from "../../../lib/service/fault-rules.ts";

interface Page {
  readonly file: string;
  readonly lines: number;
  readonly tokens: readonly Token[];
  /** Fragments that a link may end in. */
  readonly anchors: ReadonlySet<string>;
}

const isHeading = (token: Token): token is Tokens.Heading => token.type === "heading";
const isLink = (token: Token): token is Tokens.Link => token.type === "link";
const isImage = (token: Token): token is Tokens.Image => token.type === "image";
const isCode = (token: Token): token is Tokens.Code => token.type === "code";

/** The rendered text of a heading, from which GitHub derives the anchor. */
const shownText = (token: Token): string =>
  "tokens" in token && token.tokens
    ? token.tokens.map(shownText).join("")
    : "text" in token && typeof token.text === "string"
      ? token.text
      : "";

const readPage = (file: string): Page => {
  const text = readFileSync(file, "utf8");
  const tokens: Token[] = [];
  void marked.walkTokens(marked.lexer(text), (token) => {
    tokens.push(token);
  });
  const slugger = new GithubSlugger();
  const anchors = new Set(tokens.filter(isHeading).map((token) => slugger.slug(shownText(token))));
  return { file, lines: text.split("\n").length - 1, tokens, anchors };
};

const pages: ReadonlyMap<string, Page> = new Map(
  execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "--", "*.md"], {
    encoding: "utf8",
  })
    .split("\n")
    .filter((file) => /^(README|CONTRIBUTING|docs\/.+)\.md$/.test(file) && existsSync(file))
    .map((file) => [file, readPage(file)]),
);
const generated = [...pages.keys()].filter((file) => file.startsWith("docs/reference/"));

/** Reason why a link does not resolve; undefined if it does. */
const linkProblem = (page: Page, href: string): string | undefined => {
  if (/^[a-z]+:/.test(href)) return undefined;
  const [path = "", fragment] = href.split("#");
  const target = path === "" ? page.file : normalize(join(dirname(page.file), path));
  if (!existsSync(target)) return `${page.file}: ${href}: there is no ${target}`;
  if (fragment === undefined) return undefined;
  const known = pages.get(target)?.anchors ?? new Set();
  return known.has(fragment) ? undefined : `${page.file}: ${href}: ${target} has no such heading`;
};

/** Parses the text of a block; throws if the schema refuses it. */
type Reader = (text: string) => unknown;

const valid = <T>(reading: ConfigReading<T>): T => {
  if (reading.kind === "valid") return reading.value;
  throw new Error(JSON.stringify(reading.problems));
};

const accounts = ownAccount("local");
const context = {
  sender: "000000000000",
  eventId: "event-1",
  access: createAccess(accounts, "000000000000"),
};

const accepted = (read: ReturnType<typeof readRequest>) => {
  if (read.kind === "rejected") throw new Error(JSON.stringify(read.rejection));
};

const eventFileSchema = z.object({
  source: z.string().min(1),
  "detail-type": z.string().min(1),
  detail: z.record(z.string(), z.json()),
});

const readOutgoingEvent = (text: string) => {
  const { "detail-type": type, detail } = eventFileSchema.parse(JSON.parse(text));
  const schemas: Readonly<Record<string, z.ZodObject>> = EVENT_DATA;
  const schema = schemas[type];
  if (!schema) throw new Error(`no event is called ${type}`);
  metadataSchema.strict().parse(detail.metadata);
  // Subscribers accept unknown fields of later versions, but an example has only the current fields.
  schema.strict().parse(detail.data);
};

/** Readers by the first two words of a block's info string. */
const READERS: Readonly<Record<string, Reader>> = {
  "yaml accounts": (text) => valid(readAccountsFile(text)),
  "yaml reactions": (text) =>
    valid(readReactions(text, { accounts: undefined, eventSource: "skyhook" })),
  "yaml thresholds": (text) => valid(readThresholdConfig(text)),
  "yaml watchlist": (text) => valid(readWatchlist(text)),
  "yaml plain": (text) => parseYaml(text),
  "json command": (text) => accepted(readRequest(JSON.parse(text), context)),
  "json follow": (text) => accepted(readTaskFollow(JSON.parse(text), context).read),
  "json event": readOutgoingEvent,
  "json event-file": (text) => eventFileSchema.parse(JSON.parse(text)),
  "json pattern": (text) => {
    const reading = readPattern(JSON.parse(text));
    if (reading.kind === "invalid") throw new Error(JSON.stringify(reading.problems));
  },
  "json fault": (text) => faultRuleSchema.parse(JSON.parse(text)),
  "json plain": (text) => JSON.parse(text),
};

const codeProblem = (page: Page, { lang = "", text }: Tokens.Code): string | undefined => {
  const kind = lang.split(" ").slice(0, 2).join(" ");
  if (!/^(json|ya?ml)\b/.test(kind)) return undefined;
  const read = READERS[kind];
  if (!read) return `${page.file}: a block of ${kind}: its info string names no schema`;
  try {
    read(text);
    return undefined;
  } catch (error) {
    return `${page.file}: ${kind}: ${error}\n${text}`;
  }
};

describe("the documentation", () => {
  it.each([...pages.values()])("$file has links that resolve, to headings too", (page) => {
    const hrefs = page.tokens
      .filter((token) => isLink(token) || isImage(token))
      .map(({ href }) => href);

    expect(hrefs.flatMap((href) => linkProblem(page, href) ?? [])).toEqual([]);
  });

  it.each([...pages.values()])("$file has examples that their schemas accept", (page) => {
    const blocks = page.tokens.filter(isCode);

    expect(blocks.flatMap((block) => codeProblem(page, block) ?? [])).toEqual([]);
  });

  it("reaches every page from README.md", () => {
    const reached = new Set(["README.md"]);
    for (const file of reached) {
      const page = pages.get(file);
      const links = page?.tokens.filter(isLink).map(({ href }) => href.split("#")[0] ?? "") ?? [];
      for (const link of links) {
        const target = normalize(join(dirname(file), link));
        if (pages.has(target)) reached.add(target);
      }
    }

    expect([...pages.keys()].filter((file) => !reached.has(file))).toEqual([]);
  });

  it("keeps README.md within 180 lines, and a page that is written by hand within 200", () => {
    const long = [...pages.values()].filter(
      ({ file, lines }) => lines > (file === "README.md" ? 180 : 200) && !generated.includes(file),
    );

    expect(long.map(({ file, lines }) => `${file}: ${lines} lines`)).toEqual([]);
  });
});
