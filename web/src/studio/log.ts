/** Lines of the station's logs (logfmt), for the log panel. */

export type LogFile = 'server' | 'content';

export const levels = ['DEBUG', 'INFO', 'WARN', 'ERROR'] as const;
export type Level = (typeof levels)[number];

export interface Line {
  /** Epoch ms; 0 where the line names none. */
  time: number;
  level: Level;
  message: string;
  /** What stands beside the message, in order. */
  more: [string, string][];
}

const pair = /([^\s="]+)=(?:"((?:[^"\\]|\\.)*)"|(\S*))/g;

/** Reads one line; what is no logfmt is a message as it stands. */
export function parseLine(text: string): Line {
  const line: Line = { time: 0, level: 'INFO', message: '', more: [] };
  let known = false;
  for (const [, name = '', quoted, bare = ''] of text.matchAll(pair)) {
    const value = quoted === undefined ? bare : unquote(quoted);
    if (name === 'time') line.time = Date.parse(value) || 0;
    else if (name === 'level') line.level = levelOf(value);
    else if (name === 'msg') [line.message, known] = [value, true];
    else line.more.push([name, value]);
  }
  return known ? line : { ...line, message: text, more: [] };
}

export function atLeast(level: Level, least: Level): boolean {
  return levels.indexOf(level) >= levels.indexOf(least);
}

/** slog writes INFO+2 and the like between its levels. */
function levelOf(text: string): Level {
  return levels.find((level) => text.toUpperCase().startsWith(level)) ?? 'INFO';
}

/** A quoted value as Go wrote it, strconv.Quote. */
function unquote(text: string): string {
  const plain: Record<string, string> = { n: '\n', t: '\t', r: '\r' };
  return text.replace(/\\(?:u([0-9a-f]{4})|U([0-9a-f]{8})|x([0-9a-f]{2})|(.))/gi, (_, u?: string, long?: string, x?: string, c = '') => {
    const code = Number.parseInt(u ?? long ?? x ?? '', 16);
    return Number.isNaN(code) || code > 0x10ffff ? (plain[c] ?? c) : String.fromCodePoint(code);
  });
}
