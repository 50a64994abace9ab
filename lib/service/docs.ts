import { Hono } from "hono";
import { html } from "hono/html";
import * as z from "zod";
import { createOpenApi, type OpenApiDocument, REFUSALS } from "../contract/openapi.ts";
import { fieldsOf, nodeSchema, type OutlineField, type SchemaNode } from "./schema-outline.ts";

const content = z
  .object({ "application/json": z.object({ schema: nodeSchema }).optional() })
  .optional();

const operationSchema = z.object({
  operationId: z.string(),
  summary: z.string(),
  description: z.string(),
  deprecated: z.boolean().default(false),
  parameters: z
    .array(
      z.object({
        in: z.string(),
        name: z.string(),
        required: z.boolean().default(false),
        schema: nodeSchema,
      }),
    )
    .default([]),
  requestBody: z.object({ content }).optional(),
  responses: z.record(
    z.string(),
    z.object({ $ref: z.string().optional(), description: z.string().optional(), content }),
  ),
});

const documentSchema = z.object({
  info: z.object({ title: z.string(), description: z.string() }),
  paths: z.record(z.string(), z.record(z.string(), operationSchema)),
  components: z.object({
    schemas: z.record(z.string(), nodeSchema),
    responses: z.record(z.string(), z.object({ content })),
  }),
});

type Described = z.output<typeof operationSchema>;
type Responses = z.output<typeof documentSchema>["components"]["responses"];

const STYLE = `
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1b1f24; overflow-wrap: anywhere }
  code { font: .9em ui-monospace, monospace }
  section { border-top: 1px solid #d0d7de; padding: .5rem 0 1rem }
  h3 { font-size: 1rem; margin: .75rem 0 0 }
  ul { margin: .25rem 0; padding-left: 1.25rem }
  .note { color: #57606a }
  nav { columns: 24rem 2 }
  nav div { break-inside: avoid }
  @media (prefers-color-scheme: dark) {
    body { background: #0d1117; color: #e6edf3 }
    a { color: #58a6ff }
    .note { color: #8b949e }
  }
`;

type Html = ReturnType<typeof html>;

const outline = (fields: readonly OutlineField[]): Html =>
  html`<ul>${fields.map(
    ({ name, required, rule, fields: inside }) =>
      html`<li><code>${name}</code>${required ? " (required)" : ""} <span class="note">${rule}</span>
        ${inside.length > 0 ? outline(inside) : ""}</li>`,
  )}</ul>`;

const nameOf = (reference: string | undefined): string | undefined =>
  reference?.slice(reference.lastIndexOf("/") + 1);

/** The fields of a request or response body, or a link to the section of its schema. */
const body = (title: string, schema: SchemaNode | undefined): Html | string => {
  if (schema === undefined) return "";
  const record = nameOf(schema.$ref);
  return html`<h3>${title}</h3>${
    record === undefined
      ? html`${schema.description ? html`<p>${schema.description}</p>` : ""}${outline(fieldsOf(schema))}`
      : html`<p><a href="#${record}">${record}</a></p>`
  }`;
};

const response = (
  status: string,
  { description, content: media }: Described["responses"][string],
): Html | string => {
  const title = `Response ${status}`;
  const schema = media?.["application/json"]?.schema;
  return schema === undefined ? html`<h3>${title}</h3><p>${description}.</p>` : body(title, schema);
};

const parameters = ({ parameters: all }: Described): Html | string =>
  all.length === 0
    ? ""
    : html`<h3>Parameters</h3>${outline(
        all.map(({ in: place, name, required, schema }) => ({
          name,
          required,
          rule: [
            `in ${place}`,
            ...fieldsOf({ properties: { name: schema } }).map(({ rule }) => rule),
          ].join("; "),
          fields: [],
        })),
      )}`;

/** The error statuses of an operation, and the schema of their bodies. */
const errors = ({ responses }: Described, shared: Responses): Html => {
  const refusals = Object.entries(responses).filter(([status]) => status >= "400");
  const [first] = refusals.map(([, { $ref }]) => shared[nameOf($ref) ?? ""]);
  const record = nameOf(first?.content?.["application/json"]?.schema?.$ref);
  return html`<h3>Errors</h3>
    <p><a href="#errors">${refusals.map(([status]) => status).join(", ")}</a>: <a href="#${record}">${record}</a></p>`;
};

const errorList = (): Html =>
  html`<section id="errors"><h2>Errors</h2>
<p>The text of an error names each field and the rule that it breaks. A path that exists, but not for this method, answers 405; its <code>Allow</code> header lists the methods.</p>
<ul>${Object.entries(REFUSALS).map(([status, text]) => html`<li><b>${status}</b> ${text}</li>`)}</ul></section>`;

const operation = (method: string, path: string, described: Described, shared: Responses): Html => {
  const { operationId, summary, description, deprecated, requestBody, responses } = described;
  const success = Object.entries(responses).slice(0, 1);
  return html`<section id="${operationId}">
    <h2>${summary}${deprecated ? " (deprecated)" : ""}</h2>
    <p><code><b>${method.toUpperCase()}</b> ${path}</code> <span class="note">${operationId}</span></p>
    <p>${description}</p>
    ${parameters(described)}
    ${body("Request body", requestBody?.content?.["application/json"]?.schema)}
    ${success.map(([status, one]) => response(status, one))}
    ${errors(described, shared)}
  </section>`;
};

/** HTML page about the whole interface, without scripts or external resources. */
const docsPage = (openApi: OpenApiDocument): Html => {
  const { info, paths, components } = documentSchema.parse(openApi);
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({ method, path, described })),
  );
  return html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${info.title}</title><style>${STYLE}</style></head>
<body>
<h1>${info.title}</h1>
<p>${info.description} As OpenAPI 3.1: <a href="/openapi.json">openapi.json</a>.</p>
<p>Every request needs the header <code>Authorization: apikey &lt;KEY&gt;</code>. Bodies are JSON.</p>
<nav>${all.map(
    ({ described: { operationId, summary, deprecated } }) =>
      html`<div><a href="#${operationId}">${operationId}</a> <span class="note">${summary}${deprecated ? " (deprecated)" : ""}</span></div>`,
  )}</nav>
${all.map(({ method, path, described }) => operation(method, path, described, components.responses))}
${errorList()}
${Object.entries(components.schemas).map(
  ([name, schema]) =>
    html`<section id="${name}"><h2>${name}</h2>${outline(fieldsOf(schema))}</section>`,
)}
</body>
</html>`;
};

/** Creates the value at its first use, because most runs never serve it. */
const once = <T>(make: () => T): (() => T) => {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
};

export const DOCS_PATHS = ["/openapi.json", "/docs"] as const;

/** Serves `/openapi.json` and `/docs`. They need no key, because they contain no secret. */
export const createDocs = (): Hono => {
  const app = new Hono();
  const openApi = once(createOpenApi);
  const page = once(() => docsPage(openApi()));
  app.get("/openapi.json", (context) => context.json(openApi()));
  app.get("/docs", async (context) => context.html(await page()));
  return app;
};
