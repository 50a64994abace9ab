export const PINNED: Readonly<Record<"ministack" | "cfn-lint", string>>;
export const findPython: () => string | undefined;
export const pythonProgram: (name: "ministack" | "cfn-lint") => string;
