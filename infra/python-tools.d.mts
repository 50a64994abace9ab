export const PINNED: Readonly<Record<"ministack" | "moto" | "cfn-lint", string>>;
export const findPython: () => string | undefined;
export const pythonProgram: (name: "ministack" | "moto_server" | "cfn-lint") => string;
