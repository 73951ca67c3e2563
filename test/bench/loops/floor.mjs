// The bare loop that Ralph is measured against: start a stub, take its words, commit one durable row, start the next.
// Plain JavaScript in a process of its own: type stripping and a large heap would make the floor slower than it is.
import { spawn } from 'node:child_process';
import { DatabaseSync } from 'node:sqlite';

const [iterations, command, ...args] = process.argv.slice(2);
const hasControl = process.env.FLOOR_CONTROL === '1';
const database = new DatabaseSync('floor.db');
database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE rows (body TEXT NOT NULL)');
const insert = database.prepare('INSERT INTO rows (body) VALUES (?)');

function run() {
  return new Promise((resolve, reject) => {
    let said = '';
    const stdio = ['pipe', 'pipe', 'pipe', ...(hasControl ? ['pipe', 'pipe'] : [])];
    const child = spawn(command, args, { env: { PATH: process.env.PATH }, stdio, detached: hasControl });
    child.on('error', reject);
    child.stdin.on('error', () => {}); // the stub does not read
    child.stdin.end('a prompt');
    if (hasControl) child.stdio[3].resume(); // see contain.ts: it tells by 3 and hears by 4
    if (hasControl) child.stdio[4].on('error', () => {}).write('go\nclose\n');
    child.stdout.on('data', bytes => {
      said += bytes;
    });
    child.on('close', () => resolve(said));
  });
}

for (let iteration = 0; iteration < Number(iterations); iteration += 1) insert.run(`${iteration}: ${await run()}`);
database.close();
