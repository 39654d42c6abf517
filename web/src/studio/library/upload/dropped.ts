/** Files that were dropped or chosen, those of folders too, each with the folder it was in. */
export interface Dropped {
  file: File;
  folder: string;
}

/** Of a file input, which may have been given a folder. */
export function chosen(files: FileList | null): Dropped[] {
  return [...(files ?? [])].map((file) => ({ file, folder: file.webkitRelativePath.split('/').slice(0, -1).join('/') }));
}

/** Must be called while the drop is handled: what it holds is gone afterwards. */
export function dropped(data: DataTransfer): Promise<Dropped[]> {
  const entries = [...data.items].map((item) => item.webkitGetAsEntry?.() ?? null);
  const loose = entries.some((entry) => entry === null) ? [...data.files].map((file) => ({ file, folder: '' })) : null;
  return loose ? Promise.resolve(loose) : Promise.all(entries.map((entry) => inside(entry as FileSystemEntry, ''))).then((all) => all.flat());
}

async function inside(entry: FileSystemEntry, folder: string): Promise<Dropped[]> {
  try {
    if (entry.isFile) return [{ file: await new Promise<File>((done, failed) => (entry as FileSystemFileEntry).file(done, failed)), folder }];
    const reader = (entry as FileSystemDirectoryEntry).createReader();
    const here = folder ? `${folder}/${entry.name}` : entry.name;
    const out: Dropped[] = [];
    for (;;) {
      // It gives about a hundred at a time, until there are none.
      const some = await new Promise<FileSystemEntry[]>((done, failed) => reader.readEntries(done, failed));
      if (some.length === 0) return out;
      for (const one of some) out.push(...(await inside(one, here)));
    }
  } catch {
    return []; // a file that cannot be read is none
  }
}
