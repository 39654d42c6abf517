/** The marks of a dial as long as the track: where each tick stands, 0 to 1, and which minute it names. */
export interface Tick {
  at: number;
  /** The whole minute this tick marks; 0 for the small ones between. */
  minute: number;
}

const most = 72;

/** Ticks every 5 s of a song, wider apart the longer it is; always on whole minutes. */
export function ticksOf(durationMs: number): Tick[] {
  const seconds = Math.floor(durationMs / 1000);
  if (!(seconds > 0)) return [];
  const step = [1, 2, 5, 10, 15, 30, 60, 300, 600].find((s) => seconds / s <= most) ?? 3600;
  const named = Math.max(60, Math.ceil(seconds / 60 / 10) * 60);
  const ticks: Tick[] = [];
  for (let s = 0; s <= seconds; s += step) {
    ticks.push({ at: (s * 1000) / durationMs, minute: s > 0 && s % named === 0 ? s / 60 : 0 });
  }
  return ticks;
}
