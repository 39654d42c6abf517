/** Whether the station offers shows on demand: the served page names their feeds, so that nothing is asked for it. */
export const hasPodcasts = (): boolean => document.querySelector('link[rel="alternate"][type="application/rss+xml"]') !== null;
