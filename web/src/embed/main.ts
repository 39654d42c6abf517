import './embed.css';
import { embedWords } from '../i18n/embed';
import { coverOf } from '../look/cover';
import type { Status } from '../station/api';
import { isImaging } from '../station/ear';
import { faceOf } from '../station/face';
import { plain } from '../text/bidi';
import { optionsOf, readableOn, standsOut } from './options';
import { Radio } from './sound';

// The player in other sites' pages: no framework, no socket, nothing but this and its style.

const everyMs = 25_000;
const kept = 'athir.volume';
const grounds = { light: '#f6f9f7', dark: '#112124' } as const;

const options = optionsOf(location.search);
const face = faceOf(document);
const root = document.documentElement;
const find = <T extends Element = HTMLElement>(id: string): T => document.getElementById(id) as unknown as T;
const own = navigator.languages.map((tag) => tag.slice(0, 2)).find((tag): tag is 'ar' | 'en' => tag === 'ar' || tag === 'en');
const language = options.language || (face?.languages[0] ?? own ?? 'ar');
const words = embedWords[language];

const [play, title, artist, state, lamp, link, logo, cover] = [find<HTMLButtonElement>('play'), find('title'), find('artist'), find('state'), find('lamp'), find<HTMLAnchorElement>('station'), find<HTMLImageElement>('logo'), find('cover')];
const volume = find<HTMLInputElement>('volume');
const audio = new Audio();
audio.preload = 'none';

let status: Status | null = null;
let drawn = '';
let timer: ReturnType<typeof setTimeout> | undefined;
let asking = false;

const radio = new Radio(audio, (sound) => {
  play.dataset.state = sound;
  play.setAttribute('aria-label', sound === 'idle' ? words.play : words.stop);
  if (sound === 'playing') void look();
  show();
});

function dress(): void {
  [root.lang, root.dir] = [language, language === 'ar' ? 'rtl' : 'ltr'];
  if (options.theme) root.dataset.theme = options.theme;
  root.classList.toggle('compact', options.compact);
  const accent = options.accent || (/^#[\da-f]{6}$/i.test(face?.accent ?? '') ? (face?.accent as string) : '');
  if (accent) {
    root.style.setProperty('--signal', accent);
    root.style.setProperty('--on-signal', readableOn(accent));
    // An accent like the ground itself gets an edge: a button is seen.
    const dark = options.theme ? options.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    root.classList.toggle('edged', !standsOut(accent, grounds[dark ? 'dark' : 'light']));
  }
  play.setAttribute('aria-label', words.play);
  volume.setAttribute('aria-label', words.volume);
  if (face?.logo) {
    logo.onerror = () => (logo.hidden = true); // the name is there in its place
    logo.src = face.logo;
    logo.hidden = false;
  }
}

function show(): void {
  const name = plain(face?.name[language] || status?.station.name || words.radio);
  find('name').textContent = name;
  for (const one of [link, cover]) one.setAttribute('aria-label', words.open(name));
  document.title = name;
  const now = status?.nowPlaying;
  const silent = status !== null && !status.onAir;
  // A break is no song, and has no singer.
  const track = status?.state === 'music' ? status.track : null;
  const ad = track?.category === 'ads';
  const song = !ad && !(track && isImaging(track));
  title.textContent = (ad ? words.ad : song ? plain(now?.title ?? '') : '') || name;
  artist.textContent = song ? plain(now?.artist ?? '') : '';
  lamp.classList.toggle('lit', status !== null && !silent);
  const said = { idle: '', playing: '', opening: words.opening, lost: words.lost }[radio.state];
  state.textContent = said || (silent ? words.off : status?.state === 'live' ? words.live : status ? words.onAir : '');
  draw(now ? now.artist + now.title || now.file || name : name, status?.track?.cover ?? '');
}

/** The picture of the track, else one drawn from its name. */
function draw(name: string, picture: string): void {
  if (drawn === name + picture) return;
  drawn = name + picture;
  const art = coverOf(name);
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', '0 0 100 100');
  svg.setAttribute('preserveAspectRatio', 'xMidYMid slice');
  svg.setAttribute('aria-hidden', 'true');
  for (const { d, fill, opacity } of [{ d: 'M0 0h100v100H0z', fill: art.ground, opacity: 1 }, ...art.shapes]) {
    const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
    path.setAttribute('d', d);
    path.setAttribute('fill', fill);
    path.setAttribute('opacity', String(opacity));
    svg.append(path);
  }
  cover.replaceChildren(svg);
  if (!picture) return;
  const image = new Image();
  image.alt = '';
  image.onload = () => drawn === name + picture && cover.replaceChildren(image);
  image.src = `/api/library/covers/${encodeURIComponent(picture)}?size=320`;
}

/** Asks what is on the air, and again later while somebody listens or looks. */
async function look(): Promise<void> {
  clearTimeout(timer);
  if (asking) return;
  asking = true;
  try {
    const answer = await fetch('/api/status', { headers: { accept: 'application/json' }, cache: 'no-store', signal: AbortSignal.timeout(8000) });
    if (answer.ok) status = (await answer.json()) as Status;
  } catch {
    // what was known stays, and it is asked again
  }
  asking = false;
  show();
  if (radio.state !== 'idle' || document.visibilityState === 'visible') timer = setTimeout(() => void look(), everyMs);
}

function loudness(value: number): void {
  audio.volume = (value / 100) ** 2; // loudness is heard nearly logarithmically
  volume.style.setProperty('--filled', `${value}%`);
  try {
    localStorage.setItem(kept, JSON.stringify({ volume: value / 100, muted: false }));
  } catch {
    // a frame of another site may keep nothing
  }
}

function keptVolume(): number {
  try {
    const { volume: said } = JSON.parse(localStorage.getItem(kept) ?? '{}') as { volume?: unknown };
    if (typeof said === 'number' && said >= 0 && said <= 1) return Math.round(said * 100);
  } catch {
    // as above
  }
  return 100;
}

dress();
document.body.append(audio);
audio.volume = 0.5;
volume.hidden = audio.volume !== 0.5; // iOS: only the device's buttons change it
volume.value = String(keptVolume());
loudness(Number(volume.value));
volume.addEventListener('input', () => loudness(Number(volume.value)));
play.addEventListener('click', () => radio.toggle());
document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && void look());
document.addEventListener('keydown', (event) => {
  if (event.key !== ' ' || event.repeat || (event.target as Element).closest('button, a, input')) return;
  event.preventDefault();
  radio.toggle();
});
show();
void look();
