import * as z from "zod";

/** An http or https URL without credentials, query or fragment. */
export const baseUrl = z
  .url({
    protocol: /^https?$/,
    error: ({ input }) => (input === undefined ? "required" : "an http or https URL"),
  })
  .refine(
    (value) => {
      if (!URL.canParse(value)) return true;
      const { username, password, search, hash } = new URL(value);
      return username === "" && password === "" && search === "" && hash === "";
    },
    { error: "a URL without user, password, query or fragment" },
  );
