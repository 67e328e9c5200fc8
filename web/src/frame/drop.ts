// Files and folders dropped on the page.
import { tar, type Entry } from '../base/tar';

export interface Dropped {
  readonly name: string;
  readonly content: Blob;
}

/**
 * One file as it is; several, or a folder, as one archive. Without file entries, the
 * files themselves. A sentence if the browser cannot read them.
 */
export async function droppedFiles(
  roots: readonly FileSystemEntry[],
  files: readonly File[],
): Promise<Dropped | string | undefined> {
  let entries: readonly Entry[];
  try {
    entries =
      roots.length > 0
        ? (await Promise.all(roots.map((r) => walk(r, '')))).flat()
        : files.map((f) => ({ path: f.name, content: f }));
  } catch (error) {
    // Of a file without rights, or one that went away since it was taken up.
    return `What was dropped cannot be read: ${(error as Error).message}`;
  }
  const [first] = entries;
  if (!first) return undefined;
  if (entries.length === 1 && !first.path.includes('/')) return { name: first.path, content: first.content };
  return archive(entries, roots.length === 1 ? roots[0]!.name : undefined);
}

/** Files as one archive; those of a folder are named as they are inside it. */
function archive(entries: readonly Entry[], folder: string | undefined): Dropped {
  const inside = entries.map((e) =>
    folder && e.path.startsWith(`${folder}/`) ? { ...e, path: e.path.slice(folder.length + 1) } : e,
  );
  return { name: folder ?? 'dropped', content: tar(inside) };
}

/** Files chosen in a dialog. */
export function chosenFiles(files: FileList): Dropped | undefined {
  const list = [...files];
  const [first] = list;
  if (!first) return undefined;
  if (list.length === 1 && !first.webkitRelativePath) return { name: first.name, content: first };
  const entries = list.map((f): Entry => ({ path: f.webkitRelativePath || f.name, content: f }));
  return archive(entries, first.webkitRelativePath ? entries[0]!.path.split('/')[0]! : undefined);
}

async function walk(entry: FileSystemEntry, under: string): Promise<Entry[]> {
  const path = under + entry.name;
  if (entry.isFile) {
    const file = await new Promise<File>((done, fail) => (entry as FileSystemFileEntry).file(done, fail));
    return [{ path, content: file }];
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const out: Entry[] = [];
  for (;;) {
    // readEntries gives a part of the folder at a time, then an empty list.
    const some = await new Promise<FileSystemEntry[]>((done, fail) => reader.readEntries(done, fail));
    if (some.length === 0) return out;
    for (const e of some) out.push(...(await walk(e, `${path}/`)));
  }
}
