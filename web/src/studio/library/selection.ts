/** Which tracks are selected: some by their paths, or all that match but some. */
export type Selection = { all: false; paths: ReadonlySet<string> } | { all: true; total: number; except: ReadonlySet<string> };

export const nothing: Selection = { all: false, paths: new Set() };

export const everything = (total: number): Selection => ({ all: true, total, except: new Set() });

export const isSelected = (selection: Selection, path: string): boolean => (selection.all ? !selection.except.has(path) : selection.paths.has(path));

export const sizeOf = (selection: Selection): number => (selection.all ? Math.max(0, selection.total - selection.except.size) : selection.paths.size);

/** One set for all of them: a range may have a hundred thousand. */
export function withPaths(selection: Selection, paths: readonly string[], on = true): Selection {
  const set = new Set(selection.all ? selection.except : selection.paths);
  for (const path of paths) {
    if (on !== selection.all) set.add(path);
    else set.delete(path);
  }
  return selection.all ? { ...selection, except: set } : { all: false, paths: set };
}

export const withPath = (selection: Selection, path: string, on: boolean): Selection => withPaths(selection, [path], on);

export const toggledPath = (selection: Selection, path: string): Selection => withPath(selection, path, !isSelected(selection, path));

/** How many there are changes as the library does. */
export const retotalled = (selection: Selection, total: number): Selection => (selection.all ? { ...selection, total } : selection);

/** In parts no larger than the station takes at once. */
export function inParts<T>(all: readonly T[], size = 1000): T[][] {
  const out: T[][] = [];
  for (let i = 0; i < all.length; i += size) out.push(all.slice(i, i + size));
  return out;
}
