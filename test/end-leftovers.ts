// After each file of a shared fork: programs that Ralph keeps open until its process ends, each in a group of its own, end here.
import { afterAll } from 'vitest';
import { descendants } from '../src/processes/tree.ts';

afterAll(() => {
  for (const { pid } of descendants(process.pid)) {
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // It leads no group, as our hosts, or it is gone.
    }
  }
});
