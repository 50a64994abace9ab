import type { JSX } from "preact";

/** Saves CSV that the page makes from its data, under a name. */
export const DownloadButton = (props: { name: string; text: () => string }): JSX.Element => {
  const save = (): void => {
    const url = URL.createObjectURL(new Blob([props.text()], { type: "text/csv" }));
    const link = document.createElement("a");
    link.href = url;
    link.download = props.name;
    link.click();
    URL.revokeObjectURL(url);
  };
  return (
    <button type="button" class="quiet" onClick={save}>
      Download CSV
    </button>
  );
};
