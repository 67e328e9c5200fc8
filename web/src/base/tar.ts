// A tar archive (ustar) of dropped files, so that a folder travels as one body.

const BLOCK = 512;

export interface Entry {
  readonly path: string; // with / between folders, relative
  readonly content: Blob;
}

export function tar(entries: readonly Entry[]): Blob {
  const parts: BlobPart[] = [];
  for (const e of entries) {
    parts.push(header(e.path, e.content.size), e.content);
    const rest = e.content.size % BLOCK;
    if (rest > 0) parts.push(new Uint8Array(BLOCK - rest));
  }
  parts.push(new Uint8Array(2 * BLOCK)); // the end of an archive
  return new Blob(parts, { type: 'application/x-tar' });
}

function header(path: string, size: number): Uint8Array<ArrayBuffer> {
  const block = new Uint8Array(BLOCK);
  const put = (at: number, text: string): void => block.set(new TextEncoder().encode(text), at);
  const { prefix, name } = split(path);
  put(0, name);
  put(100, '0000644\0');
  put(108, '0000000\0');
  put(116, '0000000\0');
  put(124, `${size.toString(8).padStart(11, '0')}\0`);
  put(136, '00000000000\0');
  put(148, '        '); // the checksum counts itself as spaces
  put(156, '0');
  put(257, 'ustar\x0000');
  put(345, prefix);
  const sum = block.reduce((s, b) => s + b, 0);
  put(148, `${sum.toString(8).padStart(6, '0')}\0 `);
  return block;
}

/** ustar has 100 bytes for the name and 155 for the folders before it. */
function split(path: string): { prefix: string; name: string } {
  const length = (s: string): number => new TextEncoder().encode(s).length;
  if (length(path) <= 100) return { prefix: '', name: path };
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)];
    if (length(prefix) <= 155 && length(name) <= 100) return { prefix, name };
  }
  throw new Error(`the path ${path} is too long for an archive`);
}
