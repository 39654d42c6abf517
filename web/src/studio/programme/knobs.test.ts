import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { builtInDayparts, defaultKnobs, defaultMix, groups, kept, shown } from './knobs';

const go = (file: string) => readFileSync(new URL(`../../../../internal/onair/rotation/${file}`, import.meta.url), 'utf8');
const config = go('config.go');

/** Fields of rotation.DefaultConfig by their JSON names. */
function fromGo(): Record<string, unknown> {
  const names = Object.fromEntries([...config.matchAll(/^\t(\w+)\s+\S+\s+`json:"(\w+)"`/gm)].map((m) => [m[1], m[2]]));
  const body = /func DefaultConfig\(\)[\s\S]*?^}/m.exec(config)?.[0] ?? '';
  const unit: Record<string, number> = { second: 1000, minute: 60_000, hour: 3_600_000 };
  const values = [...body.matchAll(/(\w+):\s+(?:([\d.]+)(?: \* (\w+))?|(true|false))\s*,/g)];
  return Object.fromEntries(values.map(([, name, n, u, flag]) => [names[name ?? ''], flag ? flag === 'true' : Number(n) * (unit[u ?? ''] ?? 1)]));
}

describe('the defaults that the studio shows', () => {
  it('are those of the planner', () => {
    const { GENRE_SPLIT: split, ...mix } = defaultMix;
    expect(fromGo()).toMatchObject({ ...defaultKnobs, ...mix });
    for (const weight of Object.values(split)) expect(config).toContain(`: ${weight.toFixed(2)}`);
    const dayparts = go('dayparts.go');
    for (const { name, start, end } of builtInDayparts) {
      expect(dayparts).toContain(`Name: "${name}", Start: ${Number(start.slice(0, 2))} * 60, End: ${Number(end.slice(0, 2))} * 60`);
    }
  });

  it('leave no knob out', () => {
    const placed = groups.flatMap((group) => group.knobs.map((knob) => knob.key as string));
    expect([...placed, 'SAME_HOUR'].sort()).toEqual(Object.keys(defaultKnobs).sort());
  });
});

describe('a knob in its unit', () => {
  it('goes to the station and comes back the same', () => {
    expect(shown(5_400_000, 'minutes')).toBe(90);
    expect(kept(90, 'minutes')).toBe(5_400_000);
    expect(kept(1.5, 'minutes')).toBe(90_000);
    expect(shown(0.85, 'percent')).toBe(85);
    expect(kept(57, 'percent')).toBe(0.57);
    expect(kept(45, 'seconds')).toBe(45_000);
  });
});
