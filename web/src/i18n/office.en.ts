/** What the chat says to the staff, in English; it loads with their part. */
export const enOffice = {
  title: 'Write as the station',
  say: 'What you write carries the station’s badge. The key of the studio opens this; it stays with the studio.',
  name: 'Name that listeners see',
  key: 'Station key',
  enter: 'Enter',
  trying: 'Trying…',
  refused: 'This is not the station’s key.',
  stale: 'The key kept here is no longer the station’s.',
  away: 'The station does not answer. Try again.',
  limited: (wait: string) => `Too many wrong keys from here. Even the right one waits ${wait}.`,
  act: (name: string) => `Delete or mute: message of ${name}`,
  acts: (name: string) => `Message of ${name}`,
  remove: 'Delete for everyone',
  removeSay: 'It cannot be brought back.',
  mute: 'Mute its author',
  spans: { 10: 'ten minutes', 60: 'an hour', 1440: 'a day', 0: 'for good' } as Record<number, string>,
  more: 'More in the studio',
  close: 'Close',
  removed: 'Deleted.',
  muted: (name: string, span: string) => `${name} is muted: ${span}.`,
  undo: 'Undo',
  lifted: (name: string) => `${name} may write again.`,
  failed: 'That did not work.',
  news: 'What happened',
};

export type OfficeWords = typeof enOffice;
