export const findChromium: (
  environment?: Readonly<Record<string, string | undefined>>,
) => string | undefined;
