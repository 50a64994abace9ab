export function fieldTable(
  schema: object,
  words: { readonly heading: string; readonly required: string; readonly optional: string },
): string;
export function json(value: unknown): string;
