import {
  type ProviderError,
  type ProviderErrorCode,
  problemsOfError,
} from "../provider/provider-error.ts";
import { EXIT, type ExitCode, ExitError } from "./exit-code.ts";
import { problemLines } from "./output.ts";
import { visibleText } from "./visible-text.ts";

const NO_ANSWER = new Set<ProviderErrorCode>(["connection-failed", "connection-lost", "timed-out"]);

/** The provider may say itself, by a status, that it took too long. */
const isNoAnswer = ({ code, status }: ProviderError): boolean =>
  status === undefined && NO_ANSWER.has(code);

/** A key that is refused may be accepted later, but not in the same command by the same person. */
const exitCodeOf = (error: ProviderError): ExitCode => {
  if (isNoAnswer(error)) return EXIT.unreachable;
  const isRefused = error.disposition === "permanent" || error.code === "key-refused";
  return isRefused ? EXIT.refused : EXIT.failed;
};

const hintsFor = (error: ProviderError, baseUrl: string): readonly string[] => {
  const { code, retryAfterMs } = error;
  const isAddress = isNoAnswer(error) || code === "reply-unreadable";
  return [
    ...(isAddress
      ? [`look at the address, --base-url or SKYHOOK_BASE_URL: ${new URL(baseUrl).origin}`]
      : []),
    ...(code === "key-refused" ? ["look at the key, SKYHOOK_API_KEY"] : []),
    ...(retryAfterMs === undefined
      ? []
      : [`the provider asks to wait ${Math.ceil(retryAfterMs / 1000)} s`]),
  ];
};

/** What a read that failed says to a person, and to a script. */
export const readFailure = (error: ProviderError, baseUrl: string): ExitError => {
  const [message, ...fields] = problemsOfError(error);
  return new ExitError(
    exitCodeOf(error),
    [message.rule, ...problemLines(fields), ...hintsFor(error, baseUrl).map((hint) => `  ${hint}`)]
      .map(visibleText)
      .join("\n"),
  );
};
