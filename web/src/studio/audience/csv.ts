/** Tables for spreadsheets. */

type Cell = string | number;

/** What a spreadsheet would read as a formula is text to it by an apostrophe; numbers stay numbers. */
function written(cell: Cell): string {
  if (typeof cell === 'number') return Number.isFinite(cell) ? String(cell) : '';
  const text = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** RFC 4180, with the mark by which spreadsheets know UTF-8. */
export function csvOf(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return `\ufeff${[head, ...rows].map((row) => row.map(written).join(',')).join('\r\n')}\r\n`;
}

/** Gives a table to the browser as a file. */
export function save(table: Blob | string, name: string): void {
  const url = URL.createObjectURL(typeof table === 'string' ? new Blob([table], { type: 'text/csv;charset=utf-8' }) : table);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000); // the browser may still be reading it
}
