/**
 * A cover drawn from a track's name: the same name gives the same picture on
 * every device, and nothing is fetched. The name only seeds the drawing, none
 * of its text gets into it.
 */

export interface Shape {
  d: string;
  fill: string;
  opacity: number;
}

export interface Cover {
  ground: string;
  /** A colour of the cover that suits a backdrop. */
  tint: string;
  shapes: Shape[];
}

/** Ground, then three steps towards the light, then a spark. */
const palettes = [
  ['#0f2d33', '#17505a', '#2b8187', '#8fc9bd', '#ffb84d'], // the Nile at night
  ['#3b1f0b', '#8a4312', '#d9822b', '#f5c26b', '#fff1d0'], // saffron
  ['#2a1426', '#5a2447', '#9b3f5f', '#e08a7b', '#ffd9a8'], // fig
  ['#121d3f', '#263b7a', '#4f74b8', '#a8c6e8', '#ffcf70'], // khan
  ['#0d2b20', '#1d5a41', '#46946a', '#b5dba6', '#fff0b8'], // mint
  ['#34120f', '#722a1c', '#b5502f', '#e6a06a', '#f8e3c0'], // henna
  ['#453722', '#8b7350', '#c7aa77', '#ead9b2', '#0f5c62'], // sand
  ['#0c2a3d', '#1c5673', '#5199b5', '#b9dfe3', '#ff8a5c'], // sea mist
] as const;

type Palette = (typeof palettes)[number];
type Chance = () => number;

function seedOf(name: string): number {
  let h = 0x811c9dc5;
  for (const c of name) h = Math.imul(h ^ (c.codePointAt(0) as number), 0x01000193);
  return h >>> 0;
}

/** mulberry32: small, and the same everywhere. */
function chanceFrom(seed: number): Chance {
  let a = seed;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const at = (n: number) => String(Math.round(n * 10) / 10);
const point = (x: number, y: number) => `${at(x)} ${at(y)}`;
const polygon = (points: string[]) => `M${points.join('L')}z`;

function disc(x: number, y: number, r: number): string {
  return `M${point(x - r, y)}a${at(r)} ${at(r)} 0 1 0 ${at(2 * r)} 0a${at(r)} ${at(r)} 0 1 0 ${at(-2 * r)} 0z`;
}

function ring(x: number, y: number, outer: number, inner: number): string {
  const hole = `M${point(x - inner, y)}a${at(inner)} ${at(inner)} 0 1 1 ${at(2 * inner)} 0a${at(inner)} ${at(inner)} 0 1 1 ${at(-2 * inner)} 0z`;
  return disc(x, y, outer) + hole;
}

/** The reed pen's dot. */
function nuqta(x: number, y: number, r: number): string {
  return polygon([point(x, y - r), point(x + r, y), point(x, y + r), point(x - r, y)]);
}

function star(x: number, y: number, r: number, points: number, inner: number, turn: number): string {
  const corners = Array.from({ length: points * 2 }, (_, i) => {
    const angle = turn + (Math.PI * i) / points;
    const reach = i % 2 ? r * inner : r;
    return point(x + reach * Math.sin(angle), y - reach * Math.cos(angle));
  });
  return polygon(corners);
}

/** Waves leaving a mast. */
function waves(p: Palette, chance: Chance): Shape[] {
  const x = 20 + chance() * 60;
  const y = chance() < 0.5 ? 100 : 68 + chance() * 14;
  const step = 8 + chance() * 5;
  const shapes: Shape[] = [];
  for (let i = 9; i >= 1; i--) {
    const r = i * step;
    shapes.push({ d: ring(x, y, r, r - step * (0.3 + 0.35 * chance())), fill: p[i % 3 === 0 ? 3 : i % 2 ? 2 : 1], opacity: 1 - i * 0.07 });
  }
  shapes.push({ d: nuqta(x, y, 6.5), fill: p[4], opacity: 1 });
  return shapes;
}

/** An eightfold rosette, as on a Cairene ceiling. */
function rosette(p: Palette, chance: Chance): Shape[] {
  const points = chance() < 0.6 ? 8 : 12;
  const turn = chance() < 0.5 ? 0 : Math.PI / points;
  const shapes: Shape[] = [];
  const corner = 30 + chance() * 14;
  const [open, heart] = [0.58 + chance() * 0.1, 13 + chance() * 6];
  for (const [x, y] of [[0, 0], [100, 0], [0, 100], [100, 100]] as const) {
    shapes.push({ d: star(x, y, corner, points, 0.62, turn), fill: p[1], opacity: 1 });
    shapes.push({ d: star(x, y, corner * 0.55, points, 0.62, turn), fill: p[2], opacity: 0.9 });
  }
  shapes.push({ d: star(50, 50, 46, points, 0.66, turn), fill: p[1], opacity: 1 });
  shapes.push({ d: star(50, 50, 38, points, 0.7, turn + Math.PI / points), fill: p[2], opacity: 1 });
  shapes.push({ d: star(50, 50, 29, points, open, turn), fill: p[3], opacity: 1 });
  shapes.push({ d: star(50, 50, heart, points, 0.6, turn + Math.PI / points), fill: p[0], opacity: 1 });
  shapes.push({ d: disc(50, 50, 6), fill: p[4], opacity: 1 });
  return shapes;
}

/** Hills of sand and something in the sky. */
function dunes(p: Palette, chance: Chance): Shape[] {
  const sky = 20 + chance() * 60;
  const shapes: Shape[] = [
    { d: disc(sky, 32, 17 + chance() * 4), fill: p[4], opacity: 1 },
    { d: ring(sky, 32, 30, 29.2), fill: p[3], opacity: 0.6 },
    { d: ring(sky, 32, 38, 37.4), fill: p[3], opacity: 0.35 },
  ];
  [1, 2, 3, 0].forEach((colour, i) => {
    const base = 48 + i * 13;
    const [a, b] = [base - 16 + chance() * 26, base - 12 + chance() * 26];
    shapes.push({
      d: `M0 ${at(base)}C30 ${at(a)} 62 ${at(b)} 100 ${at(base - 6 + chance() * 12)}V100H0z`,
      fill: p[colour] as string,
      opacity: colour === 3 ? 0.85 : 1,
    });
  });
  return shapes;
}

/** A field of dots that swells and thins like a signal. */
function field(p: Palette, chance: Chance): Shape[] {
  const [fx, fy] = [1.2 + chance() * 2.2, 1.2 + chance() * 2.2];
  const [px, py] = [chance() * 6, chance() * 6];
  const groups = ['', '', ''];
  let brightest = { value: -1, x: 0, y: 0 };
  for (let row = 0; row < 8; row++) {
    for (let column = 0; column < 8; column++) {
      const [x, y] = [6.25 + column * 12.5, 6.25 + row * 12.5];
      const value = (Math.sin((x / 100) * fx * 3 + px) + Math.cos((y / 100) * fy * 3 + py)) / 4 + 0.5;
      if (value > brightest.value) brightest = { value, x, y };
      groups[Math.min(2, Math.floor(value * 3))] += nuqta(x, y, 1.4 + value * 5.6);
    }
  }
  const shapes = groups.map((d, i) => ({ d, fill: p[i + 1] as string, opacity: 1 }));
  shapes.push({ d: nuqta(brightest.x, brightest.y, 7), fill: p[4], opacity: 1 });
  return shapes;
}

/** Doorways within doorways. */
function arches(p: Palette, chance: Chance): Shape[] {
  const x = 38 + chance() * 24;
  const shapes: Shape[] = [{ d: ring(x, 40, 62, 61), fill: p[2], opacity: 0.5 }];
  [1, 2, 3, 0].forEach((colour, i) => {
    const [half, top] = [40 - i * 10, 12 + i * 13];
    const shoulder = top + half * 0.95;
    shapes.push({
      d: `M${point(x - half, 100)}V${at(shoulder)}Q${point(x - half, top + half * 0.28)} ${point(x, top)}Q${point(x + half, top + half * 0.28)} ${point(x + half, shoulder)}V100z`,
      fill: p[colour] as string,
      opacity: 1,
    });
  });
  shapes.push({ d: nuqta(x, 74, 5), fill: p[4], opacity: 1 });
  return shapes;
}

const motifs = [waves, rosette, dunes, field, arches];

/** The cover of a name: title and artist, or a file where both are missing. */
export function coverOf(name: string): Cover {
  const chance = chanceFrom(seedOf(name));
  const palette = palettes[Math.floor(chance() * palettes.length)] as Palette;
  const motif = motifs[Math.floor(chance() * motifs.length)] as (typeof motifs)[number];
  return { ground: palette[0], tint: palette[1], shapes: motif(palette, chance) };
}

/** The cover as a file of its own, for where the browser wants an image. */
export function coverSVG(cover: Cover, size: number): string {
  const paths = cover.shapes.map((s) => `<path d="${s.d}" fill="${s.fill}" opacity="${s.opacity}"/>`).join('');
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${size}" viewBox="0 0 100 100"><path d="M0 0h100v100H0z" fill="${cover.ground}"/>${paths}</svg>`;
}
