// Puts the station's player where this script stands:
// <script async src="https://radio.example/embed.js" data-theme="dark" data-accent="ff8800" data-lang="ar" data-compact="1" data-height="140"></script>
(() => {
  const me = document.currentScript;
  if (!me || !me.src) return;
  const said = me.dataset;
  const src = new URL('/embed', me.src);
  for (const name of ['theme', 'accent', 'lang', 'compact']) if (said[name]) src.searchParams.set(name, said[name]);
  const small = said.compact === '1';
  const frame = document.createElement('iframe');
  frame.src = src.href;
  frame.title = said.title || (said.lang === 'en' ? 'Radio' : 'الراديو · Radio');
  frame.allow = 'autoplay';
  frame.loading = 'lazy';
  const height = Math.min(180, Math.max(80, Number(said.height) || (small ? 80 : 140)));
  // By properties: a page may forbid style attributes.
  Object.assign(frame.style, { display: 'block', width: '100%', maxWidth: '1200px', height: `${height}px`, border: '0', colorScheme: 'normal' });
  me.after(frame);
})();
