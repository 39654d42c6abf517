import { readFileSync } from 'node:fs';

const at = new URL('../../../internal/web/pages/', import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, at), 'utf8');

/** The station's page of an address at which there is nothing: its own template, words and style, of a station without a picture. */
export function lostPage(name = 'إذاعة النيل'): string {
  const said = [...read('words.go').matchAll(/missing: "([^"]+)", missingText: "([^"]+)", home: "([^"]+)"/g)].map(([, title = '', text = '', home = '']) => ({ title, text, home })).reverse();
  const [ar] = said;
  if (said.length !== 2 || !ar) throw new Error('words.go says it in other ways');
  const part = (section: string): string => said.map(({ title, text, home }, i) => section
    .replace(/\{\{if \$i\}\}(.*?)\{\{else\}\}(.*?)\{\{end\}\}/, i > 0 ? '$1' : '$2')
    .replaceAll('{{$it.Language}}', i > 0 ? 'en' : 'ar').replaceAll('{{$it.Direction}}', i > 0 ? 'ltr' : 'rtl')
    .replaceAll('{{$it.Title}}', title).replace('{{$it.Text}}', text).replace('{{$it.Home}}', home).replace('{{$.Address}}', '/')).join('');
  const page = read('missing.html')
    .replace(/\{\{range [^}]*\}\}([\s\S]*)\{\{end\}\}(?=\s*<\/main>)/, (_, section: string) => part(section))
    .replace(/\{\{with \.\w+\}\}.*?\{\{end\}\}/g, '')
    .replace('{{.Language}}', 'ar').replace('{{.Direction}}', 'rtl').replace('{{(index .In 0).Title}}', ar.title).replaceAll('{{.Name}}', name).replace('{{.Sheet}}', read('missing.css'));
  if (page.includes('{{')) throw new Error(`missing.html says more: ${page.slice(page.indexOf('{{'), page.indexOf('{{') + 80)}`);
  return page;
}
