/** What the chat says to the staff, in English; it loads with their part. */
export const enOffice = {
  title: 'Write as the station',
  say: 'Your messages carry the station’s badge. Enter with the station key; it is kept by the studio alone.',
  name: 'Name that listeners see',
  key: 'Station key',
  enter: 'Enter',
  trying: 'Trying…',
  refused: 'This is not the station’s key.',
  stale: 'The saved key is no longer valid.',
  away: 'The station is not answering. Try again.',
  limited: (wait: string) => `Too many wrong keys from here. No key is accepted for ${wait}.`,
  act: (name: string) => `Delete or mute: message of ${name}`,
  acts: (name: string) => `Message of ${name}`,
  remove: 'Delete for everyone',
  removeSay: 'This cannot be undone.',
  mute: 'Mute its author',
  spans: { 10: 'ten minutes', 60: 'an hour', 1440: 'a day', 0: 'for good' } as Record<number, string>,
  more: 'More in the studio',
  close: 'Close',
  removed: 'Deleted.',
  muted: (name: string, span: string) => `${name} is muted: ${span}.`,
  undo: 'Undo',
  lifted: (name: string) => `${name} may write again.`,
  failed: 'That did not work. Try again.',
  news: 'What happened',
};

export type OfficeWords = typeof enOffice;
