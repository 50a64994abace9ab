/** Shows `/openapi.json` with Swagger UI, which `index.html` loads before this script. */
import { accessible } from "./accessible.ts";

interface OutgoingRequest {
  readonly headers: { Authorization?: string };
}

/** The options of Swagger UI that differ from its defaults. */
declare const SwaggerUIBundle: (options: {
  readonly url: string;
  readonly dom_id: string;
  readonly deepLinking: boolean;
  /** Null: no document is sent to a validator on the internet. */
  readonly validatorUrl: null;
  /** False: its themes have too little contrast. */
  readonly syntaxHighlight: false;
  readonly plugins: readonly (() => object)[];
  readonly requestInterceptor: (request: OutgoingRequest) => OutgoingRequest;
}) => unknown;

const SCHEME = "apikey ";

/** OpenAPI cannot state the word before a key in a header, so the page adds it to a key alone. */
const completeKey = (request: OutgoingRequest): OutgoingRequest => {
  const key = request.headers.Authorization?.trim();
  if (key && !key.toLowerCase().startsWith(SCHEME)) request.headers.Authorization = SCHEME + key;
  return request;
};

const dark = matchMedia("(prefers-color-scheme: dark)");
const showTheme = (): void => {
  document.documentElement.classList.toggle("dark-mode", dark.matches);
};
dark.addEventListener("change", showTheme);
showTheme();

SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#app",
  deepLinking: true,
  validatorUrl: null,
  syntaxHighlight: false,
  plugins: [accessible],
  requestInterceptor: completeKey,
});
