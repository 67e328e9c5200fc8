// A ClickHouse of a current release that answers over HTTP as its server does, as far
// as isobath asks: the library chDB is in the node_modules of the folder that is named
// first, the data in the second. Says its address and version on the first line.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

const [library, data] = process.argv.slice(2);
const { Session } = createRequire(join(resolve(library), 'package.json'))('chdb');
mkdirSync(data, { recursive: true });
const session = new Session(join(data, 'session'));

// The library answers one after the other.
let last = Promise.resolve();
function ask(sql, format) {
  const answer = last.then(() => session.queryAsync(sql, { format }));
  last = answer.catch(() => {});
  return answer;
}

let inserts = 0;
async function answer(url, body) {
  const statement = url.searchParams.get('query') ?? body.toString('utf8');
  const insert = /^(INSERT INTO .*) FORMAT Native$/.exec(statement);
  if (insert) {
    const file = join(data, `rows-${inserts++}`);
    writeFileSync(file, body);
    await ask(`${insert[1]} SELECT * FROM file('${file}', 'Native')`, 'Null');
    rmSync(file);
    return Buffer.alloc(0);
  }
  const native = statement.endsWith(' FORMAT Native');
  const result = await ask(native ? statement.slice(0, -' FORMAT Native'.length) : statement, native ? 'Native' : 'TSV');
  return Buffer.from(result.bytes());
}

const server = createServer((request, response) => {
  const parts = [];
  request.on('data', (part) => parts.push(part));
  request.on('end', async () => {
    const url = new URL(request.url, 'http://127.0.0.1');
    try {
      response.end(url.pathname === '/ping' ? 'Ok.\n' : await answer(url, Buffer.concat(parts)));
    } catch (error) {
      response.statusCode = 500;
      response.end(String(error.message ?? error));
    }
  });
});
server.listen(0, '127.0.0.1', async () => {
  const version = (await ask('SELECT version()', 'TSV')).text().trim();
  console.log(`127.0.0.1:${server.address().port} ${version}`);
});
