import { describe, expect, it } from 'vitest';
import { droppedFiles } from './drop';

function fileEntry(name: string, content: File | Error): FileSystemEntry {
  const file = (done: (f: File) => void, fail: (e: Error) => void): void =>
    content instanceof Error ? fail(content) : done(content);
  return { name, isFile: true, isDirectory: false, file } as unknown as FileSystemEntry;
}

function folderEntry(name: string, inside: readonly FileSystemEntry[]): FileSystemEntry {
  const parts = [inside, []];
  const readEntries = (done: (e: readonly FileSystemEntry[]) => void): void => done(parts.shift() ?? []);
  return {
    name,
    isFile: false,
    isDirectory: true,
    createReader: () => ({ readEntries }),
  } as unknown as FileSystemEntry;
}

describe('what is dropped on the page', () => {
  const csv = new File(['cpu\n1\n'], 'a.csv');

  it('is one file as it is, and a folder as one archive', async () => {
    expect(await droppedFiles([fileEntry('a.csv', csv)], [])).toEqual({ name: 'a.csv', content: csv });
    expect(await droppedFiles([], [csv])).toEqual({ name: 'a.csv', content: csv });
    const archive = await droppedFiles([folderEntry('run', [fileEntry('a.csv', csv)])], []);
    expect(archive).toMatchObject({ name: 'run' });
    expect(await droppedFiles([], [])).toBeUndefined();
  });

  it('is said where the browser cannot read it', async () => {
    const gone = new Error('A requested file could not be found');
    const said = 'What was dropped cannot be read: A requested file could not be found';
    expect(await droppedFiles([fileEntry('a.csv', gone)], [])).toBe(said);
    expect(await droppedFiles([folderEntry('run', [fileEntry('a.csv', gone)])], [])).toBe(said);
  });
});
