/**
 * hls.js keeps an array indexed by discontinuity number and walks through all
 * of it each time a playlist is loaded. The relay numbers from the seconds
 * since 2024, so that no restart repeats a number: ninety million places to
 * look at, every two seconds. Here the numbers count from the first one seen.
 */
export function renumbering(): (playlist: string) => string {
  let base = -1;
  return (playlist) =>
    playlist.replace(/(#EXT-X-DISCONTINUITY-SEQUENCE:)(\d+)/, (_, tag: string, digits: string) => {
      if (base < 0) base = Number(digits);
      return `${tag}${Math.max(0, Number(digits) - base)}`;
    });
}
