export const findContainerTool: (
  environment?: Readonly<Record<string, string | undefined>>,
) => string | undefined;
