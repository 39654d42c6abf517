import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { expect } from './fixtures';

// What holds for every page in every width: nothing scrolled sideways, no name cut off, no control under
// another, and on listeners' pages nothing to be pressed that a thumb misses.

/** What is wrong with how the page is laid out. Runs in the page. */
function faultsOfLayout(thumb: boolean): string[] {
  const faults: string[] = [];
  const named = (el: Element): string => {
    const text = (el.getAttribute('aria-label') ?? el.textContent ?? '').replace(/\s+/g, ' ').trim().slice(0, 50);
    const kept = [...el.classList].filter((name) => !name.startsWith('svelte-')).join('.');
    return `${el.tagName.toLowerCase()}${el.id && `#${el.id}`}${kept && `.${kept}`} “${text}”`;
  };
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) {
    const wide = [...document.body.querySelectorAll('*')].filter((el) => el.getBoundingClientRect().right > root.clientWidth + 1 || el.getBoundingClientRect().left < -1);
    faults.push(`scrolled sideways: ${root.scrollWidth} of ${root.clientWidth}: ${wide.slice(0, 4).map(named).join(', ')}`);
  }

  const seen = (el: Element): boolean => el.checkVisibility({ opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true });
  const modal = document.querySelector('dialog:modal');
  const within = modal ?? document.body;

  /** Where a text is cut off: its own box or one around it hides what sticks out. */
  const cutBy = (el: Element, box: DOMRect): Element | null => {
    for (let at: Element | null = el; at && at !== document.body; at = at.parentElement) {
      const style = getComputedStyle(at);
      const around = at.getBoundingClientRect();
      if (around.width <= 2 || style.clipPath !== 'none') return null; // for screen readers alone
      if (/auto|scroll/.test(style.overflowX)) return null;
      if (/hidden|clip/.test(style.overflowX) && (box.right > around.right + 1.5 || box.left < around.left - 1.5)) return at;
      if (style.position === 'fixed') return null;
    }
    return null;
  };
  const names = 'a, button, h1, h2, h3, h4, label, legend, th, summary, dt, [role=tab], [role=button]';
  for (const walk = document.createTreeWalker(within, NodeFilter.SHOW_TEXT); walk.nextNode(); ) {
    const text = walk.currentNode as Text;
    const el = text.parentElement;
    if (!text.data.trim() || !el || !seen(el) || el.closest('script, style, svg, textarea, select, [aria-hidden=true]')) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    const cut = cutBy(el, range.getBoundingClientRect());
    if (!cut) continue;
    // What listeners and operators name may be longer than any page: it ends in an ellipsis. What we name must fit.
    const ours = el.closest(names) !== null && el.closest('bdi, [dir=auto], .clip') === null;
    if (ours || getComputedStyle(cut).textOverflow !== 'ellipsis') faults.push(`cut off: ${named(el)}`);
  }

  for (const open of within.querySelectorAll('nav [aria-current=page]')) {
    const [tab, all] = [open.getBoundingClientRect(), (open.closest('nav') as Element).getBoundingClientRect()];
    if (seen(open) && (tab.left < all.left - 2 || tab.right > all.right + 2)) faults.push(`out of sight: ${named(open)}`);
  }

  const pen = document.createElement('canvas').getContext('2d');
  for (const field of within.querySelectorAll<HTMLInputElement>('input[placeholder]')) {
    if (!pen || !field.placeholder || field.value || !seen(field)) continue;
    const style = getComputedStyle(field);
    pen.font = style.font;
    const room = field.clientWidth - parseFloat(style.paddingInlineStart) - parseFloat(style.paddingInlineEnd);
    if (pen.measureText(field.placeholder).width > room + 1) faults.push(`cut off: the placeholder “${field.placeholder}”`);
    if (/^[\u0600-\u06ff]/.test(field.placeholder) && style.direction !== 'rtl' && field.dir !== 'ltr') faults.push(`from the left: the placeholder “${field.placeholder}”`);
  }

  const controls = [...within.querySelectorAll<HTMLElement>('a[href], button, input:not([type=hidden]), select, textarea, summary, [role=button], [role=slider], [role=tab], [tabindex="0"]')];
  const was = { x: scrollX, y: scrollY };
  const tabs = [...document.querySelectorAll('nav')].map((nav) => ({ nav, left: nav.scrollLeft }));
  const like = new Map<string, number>();
  for (const control of controls) {
    if (!seen(control) || control.closest('[inert], svg')) continue;
    // Of a long list the first rows are enough.
    const kind = `${control.tagName}.${control.className}.${control.closest('li, tr, [role=row]')?.className ?? Math.random()}`;
    like.set(kind, (like.get(kind) ?? 0) + 1);
    if ((like.get(kind) ?? 0) > 12) continue;
    const label = control instanceof HTMLInputElement ? (control.labels?.[0] ?? null) : null;
    let box = control.getClientRects()[0];
    if (!box || box.width <= 2 || box.height <= 2 || getComputedStyle(control).clipPath !== 'none' || getComputedStyle(control).opacity === '0') {
      // A picture of a control is pressed in its label.
      if (!label) continue;
    }
    control.scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' });
    const pressed = box && box.width > 2 && box.height > 2 && getComputedStyle(control).opacity !== '0' ? control : (label as HTMLElement);
    box = pressed.getClientRects()[0];
    if (!box) continue;
    const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
    const belongs = (hit: Element | null): boolean => hit !== null && (control.contains(hit) || hit.contains(control) && hit !== document.body && hit.matches('label, a, button') || (label?.contains(hit) ?? false));
    if (x > 0 && y > 0 && x < innerWidth && y < innerHeight && getComputedStyle(pressed).pointerEvents !== 'none' && box.width > 0) {
      const hit = document.elementFromPoint(x, y);
      // A group is no control: what lies in it is pressed.
      if (!belongs(hit) && !(control.matches('[tabindex]:not(button, a, input, [role])') && hit && control.contains(hit))) faults.push(`covered: ${named(control)} by ${hit ? named(hit) : 'nothing'}`);
    }
    if (!thumb || control.matches('[tabindex="0"]:not([role])')) continue;
    // Within a sentence a link is as high as its line.
    const inline = control.matches('a') && getComputedStyle(control).display === 'inline' && (control.parentElement?.textContent ?? '').trim() !== (control.textContent ?? '').trim();
    if (inline) continue;
    const area = label && (label.contains(control) || pressed === label) ? label.getBoundingClientRect() : control.getBoundingClientRect();
    const reaches = (dx: number, dy: number): boolean => {
      const at = [x + dx, y + dy] as const;
      return at[0] < 0 || at[0] >= innerWidth || at[1] < 0 || at[1] >= innerHeight || belongs(document.elementFromPoint(...at));
    };
    const high = area.height >= 43.5 || (reaches(0, -21.5) && reaches(0, 21.5));
    const wide = area.width >= 43.5 || (reaches(-21.5, 0) && reaches(21.5, 0));
    if (!high || !wide) faults.push(`small: ${named(control)} ${Math.round(area.width)}×${Math.round(area.height)}`);
  }
  for (const { nav, left } of tabs) nav.scrollLeft = left;
  scrollTo({ left: was.x, top: was.y, behavior: 'instant' });
  return [...new Set(faults)];
}

/** What is wrong with how the page is laid out, as it is now; thumb: with what is too small to be pressed by one. */
export const layoutFaults = (page: Page, thumb = false): Promise<string[]> => page.evaluate(faultsOfLayout, thumb);

/** The widths that every page is looked at in. */
export const widths = [390, 768, 1280, 1920] as const;

/** Of a long list axe reads the first rows. */
const rest = ['li', 'tbody tr', '[role=row]'].map((row) => `${row}:nth-of-type(n+16)`);

/** Expects that the page, as it is, is whole in a theme, in every width. One load: theme and width change in place. */
export async function expectWhole(page: Page, colorScheme: 'light' | 'dark', { thumb = false, shot = '' } = {}): Promise<void> {
  await page.emulateMedia({ colorScheme });
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 });
    await page.evaluate(() => document.fonts.ready.then(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))));
    const axe = new AxeBuilder({ page }).setLegacyMode();
    for (const rows of rest) axe.exclude(rows);
    if (colorScheme === 'light') await expect.poll(() => layoutFaults(page, thumb), { message: `${width} px`, timeout: 10_000 }).toEqual([]);
    else axe.withRules(['color-contrast', 'link-in-text-block']); // the theme changes colours alone
    const { violations } = await axe.analyze();
    expect(violations.map(({ id, nodes }) => `${width} px: ${id}: ${nodes.map(({ target, failureSummary }) => `${target} ${failureSummary}`).join('\n')}`)).toEqual([]);
    if (process.env.ATHIR_SHOTS && (width === 390 || width === 1280)) await page.screenshot({ path: `${process.env.ATHIR_SHOTS}/${shot}-${width}-${colorScheme}.png`, fullPage: true });
  }
}
