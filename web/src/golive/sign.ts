/** What the station tells a page of its session, as `data:` of its event stream. Times are epoch milliseconds of the station's clock. */
export interface Facts {
  allowed?: boolean;
  code?: string;
  detail?: string;
  state: 'off' | 'connecting' | 'waiting' | 'called' | 'on air' | 'grace' | 'taken back' | 'held';
  since?: number;
  /** While called: the studio has put it on the air, and it did not take the air by itself. */
  called?: boolean;
  /** From when it takes the air by itself again; 0 or missing: it is not kept from it, or never does. */
  freeAt?: number;
  onAir?: { title: string; artist: string; kind?: string } | null;
  next?: { title: string; artist: string }[] | null;
  listeners?: number;
  /** When the studio wants the show to end; 0 for no such wish. */
  wrapUpAt?: number;
  /** When the key ends; 0 for never. */
  until?: number;
  /** Who is on the air instead. */
  takenBy?: string;
  now?: number;
  session?: string;
  /** This session is the one whose sound the station takes; another may be connected beside it. */
  holds?: boolean;
  ended?: '' | 'replaced' | 'kicked' | 'revoked' | 'late' | 'server';
  why?: string;
}

/** Facts are sent every five seconds at least: older ones may be untrue. */
export const freshMs = 12_000;

/** The one large word of the page. */
export type Sign = 'ready' | 'asking' | 'connecting' | 'unsure' | 'waiting' | 'called' | 'speak' | 'on air' | 'grace' | 'taken back' | 'held' | 'mending' | 'retrying' | 'offline' | 'ended';

/**
 * Which sign is lit. "On the air" takes all of these: the connection stands, the station
 * has said so, it said so lately, and of this very session.
 */
export function signOf(name: string, facts: Facts | null, ageMs: number): Sign {
  if (name !== 'linked') return name as Sign;
  if (!facts || ageMs > freshMs) return 'unsure';
  if (facts.holds === false) return 'waiting';
  switch (facts.state) {
    case 'on air':
    case 'grace':
    case 'taken back':
    case 'held':
      return facts.state;
    case 'called':
      return facts.called ? 'called' : 'speak';
    case 'connecting':
      return 'unsure'; // the sound is on its way, or the engine has not said so yet
    default:
      return 'waiting';
  }
}

/** Whether the broadcast goes on, heard or not: its time runs through a pause and a hole. */
export function goesOn(sign: Sign): boolean {
  return sign === 'on air' || sign === 'grace';
}
