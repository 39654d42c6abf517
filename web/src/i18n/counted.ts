import type { Forms } from './choose';

/** How many tracks, wherever they are counted. */
export const countedTracks: Record<'ar' | 'en', Forms> = {
  ar: { zero: 'لا مقاطع', one: 'مقطع واحد', two: 'مقطعان', few: '# مقاطع', many: '# مقطعًا', other: '# مقطع' },
  en: { zero: 'no tracks', one: 'one track', two: 'two tracks', few: '# tracks', many: '# tracks', other: '# tracks' },
};
