/** A browser's own description (User-Agent) in two words. The first that fits counts: most browsers claim to be others as well. */

const browsers: [RegExp, string][] = [
  [/\bEdgA?\//, 'Edge'], [/\bOPR\//, 'Opera'], [/\bSamsungBrowser\//, 'Samsung Internet'], [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b(Chrome|CriOS|Chromium|HeadlessChrome)\//, 'Chrome'], [/\bSafari\//, 'Safari'], [/^curl\//, 'curl'],
];
const systems: [RegExp, string][] = [
  [/\biPhone\b/, 'iPhone'], [/\biPad\b/, 'iPad'], [/\bAndroid\b/, 'Android'], [/\bCrOS\b/, 'ChromeOS'], [/\bWindows\b/, 'Windows'], [/\bMac OS X\b/, 'macOS'], [/\bLinux\b/, 'Linux'],
];

/** Browser and system; empty where it does not say. */
export function agentOf(text: string): { browser: string; system: string } {
  const first = (list: [RegExp, string][]) => list.find(([mark]) => mark.test(text))?.[1] ?? '';
  return { browser: first(browsers), system: first(systems) };
}
