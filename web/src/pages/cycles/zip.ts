// A zip archive of files that are packed already, such as pictures: stored, not
// deflated. The format is PKWARE's APPNOTE 6.3.

export interface Entry {
  readonly name: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

const CRC = Uint32Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  return c;
});

export function crc32(bytes: Uint8Array): number {
  let c = 0xffffffff;
  for (const b of bytes) c = CRC[(c ^ b) & 255]! ^ (c >>> 8);
  return (c ^ 0xffffffff) >>> 0;
}

export function zip(entries: readonly Entry[]): Blob {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  const directory: Uint8Array<ArrayBuffer>[] = [];
  let at = 0;
  const add = (list: Uint8Array<ArrayBuffer>[], part: Uint8Array<ArrayBuffer>): void => void list.push(part);
  for (const e of entries) {
    const name = new TextEncoder().encode(e.name);
    // Version 2.0, names in UTF-8, stored, 1980-01-01 as the time.
    const common = [20, 0x0800, 0, 0, 0x21] as const;
    const sizes = [crc32(e.bytes), e.bytes.length, e.bytes.length] as const;
    const local = record([
      [4, 0x04034b50],
      ...common.map((v) => [2, v] as const),
      ...sizes.map((v) => [4, v] as const),
      [2, name.length],
      [2, 0],
    ]);
    add(
      directory,
      record([
        [4, 0x02014b50],
        [2, 20],
        ...common.map((v) => [2, v] as const),
        ...sizes.map((v) => [4, v] as const),
        [2, name.length],
        [2, 0],
        [2, 0],
        [2, 0],
        [2, 0],
        [4, 0],
        [4, at],
      ]),
    );
    add(directory, name);
    for (const part of [local, name, e.bytes]) {
      add(parts, part);
      at += part.length;
    }
  }
  const size = directory.reduce((n, d) => n + d.length, 0);
  const end = record([
    [4, 0x06054b50],
    [2, 0],
    [2, 0],
    [2, entries.length],
    [2, entries.length],
    [4, size],
    [4, at],
    [2, 0],
  ]);
  return new Blob([...parts, ...directory, end], { type: 'application/zip' });
}

/** Little-endian numbers of 2 or 4 bytes. */
function record(fields: readonly (readonly [2 | 4, number])[]): Uint8Array<ArrayBuffer> {
  const out = new DataView(new ArrayBuffer(fields.reduce((n, [w]) => n + w, 0)));
  let at = 0;
  for (const [width, value] of fields) {
    if (width === 2) out.setUint16(at, value, true);
    else out.setUint32(at, value, true);
    at += width;
  }
  return new Uint8Array(out.buffer);
}
