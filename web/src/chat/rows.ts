import type { Message } from '../live/words';

/** One line of the log: a message, or what stands between two. */
export type Row =
  | { kind: 'day'; key: string; at: number }
  | { kind: 'new'; key: string }
  | { kind: 'message'; key: string; message: Message; /** goes on under the name above */ follows: boolean };

const togetherMs = 4 * 60_000;

/** The log's lines: days apart, one line before what is new, neighbours of one writer together. */
export function rowsOf(messages: readonly Message[], readTo: string): Row[] {
  const rows: Row[] = [];
  let before: Message | null = null;
  let told = readTo === '';
  for (const message of messages) {
    if (!before || !sameDay(before.at, message.at)) rows.push({ kind: 'day', key: `day ${message.id}`, at: message.at });
    if (!told && before?.id === readTo) {
      rows.push({ kind: 'new', key: 'new' });
      told = true;
    }
    const follows =
      rows.at(-1)?.kind === 'message' && before !== null && message.type !== 'admin' && before.type !== 'admin' &&
      before.user === message.user && Boolean(before.staff) === Boolean(message.staff) && message.at - before.at < togetherMs;
    rows.push({ kind: 'message', key: message.id, message, follows });
    before = message;
  }
  return rows;
}

function sameDay(a: number, b: number): boolean {
  return new Date(a).toDateString() === new Date(b).toDateString();
}
