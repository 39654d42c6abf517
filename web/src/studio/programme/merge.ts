/** Merge patches (RFC 7396): what the studio sends, and how it keeps a draft. */

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json | undefined };
type Members = { readonly [name: string]: Json | undefined };

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function same(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((value, i) => same(value, b[i]));
  if (!isObject(a) || !isObject(b)) return (a ?? null) === (b ?? null);
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((name) => same(a[name], b[name]));
}

/** The document with a patch in it; neither is changed. */
export function merged<T>(document: T, patch: unknown): T {
  if (!isObject(patch)) return patch as T;
  const out: Record<string, unknown> = isObject(document) ? { ...document } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete out[name];
    else out[name] = merged(out[name], value);
  }
  return out as T;
}

/** The patch that makes one document of another; an empty object where they are the same. */
export function difference(from: object, to: object): Record<string, Json> {
  const out: Record<string, Json> = {};
  const [before, after] = [from as Members, to as Members];
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [was, is] = [before[name], after[name]];
    if (same(was, is)) continue;
    if (is === undefined || is === null) out[name] = null;
    else if (isObject(was) && isObject(is)) out[name] = difference(was, is);
    else out[name] = is;
  }
  return out;
}

/** How many settings a patch changes: each member that is no object counts once. */
export function size(patch: unknown): number {
  if (!isObject(patch)) return 1;
  return Object.values(patch).reduce<number>((sum, value) => sum + size(value), 0);
}

/** What stands at a path such as CLOCKS[0].hour[2].at; undefined where nothing does. */
export function at(document: unknown, path: string): unknown {
  const steps = path.match(/[^.[\]]+/g) ?? [];
  return steps.reduce<unknown>((value, step) => (value as Record<string, unknown> | null | undefined)?.[step], document);
}
