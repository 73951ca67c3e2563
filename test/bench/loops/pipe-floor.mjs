// The floor of reading an agent's output: a Node that starts it and takes every byte, and keeps none.
import { spawn } from 'node:child_process';

const child = spawn('sh', ['-c', process.argv[2]], { stdio: ['ignore', 'pipe', 'inherit'] });
let bytes = 0;
child.stdout.on('data', data => {
  bytes += data.length;
});
child.on('close', () => console.log(bytes));
