// A status line for Claude Code: the loop of the folder and its iteration, from the state file; nothing where there is no loop.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

function shown() {
  const { workspace, cwd } = JSON.parse(readFileSync(0, 'utf8'));
  const file = join(workspace?.project_dir ?? cwd, '.claude', 'ralph-loop.local.md');
  const [, front = ''] = /^---\n(.*?)\n---\n/s.exec(readFileSync(file, 'utf8')) ?? [];
  const {
    active,
    loop,
    iteration,
    max_iterations: most,
  } = Object.fromEntries(
    front.split('\n').map(line => [line.slice(0, line.indexOf(':')), JSON.parse(line.slice(line.indexOf(':') + 1))]),
  );
  return active ? `ralph ${loop ?? ''} ${iteration}${most > 0 ? `/${most}` : ''}` : '';
}

try {
  console.log(shown());
} catch {
  console.log('');
}
