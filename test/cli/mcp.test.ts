// `ralph mcp serve` as another program starts it: the loops of a real home over standard input and output.
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, it } from 'vitest';
import { answerOf, connected } from '../mcp-server/client.ts';
import { binary, inScratch, pinnedNode } from './kit.ts';
import { makeRepository, worker } from './repository.ts';

it('before any loop it answers so; then it shows what one did, and says what it cannot do', () =>
  inScratch(async place => {
    makeRepository(place, ['US-001']);
    const how = { command: pinnedNode, args: [binary, 'mcp', 'serve'], env: { ...place.env }, cwd: place.project };
    const client = await connected(new StdioClientTransport(how), 'legacy');
    const call = (name: string, given = {}) => answerOf(client, name, given);
    expect(await call('list_loops')).toBe('refused');
    const words = ['run', 'PRD.json', '--agent-command', worker, '--detect-checks', 'none', '--no-input'];
    expect((await place.ralph(words)).code).toBe(0);
    expect(await call('list_loops')).toMatchObject({ loops: [{ name: 'shop', state: 'completed' }] });
    expect(await call('get_diff')).toMatchObject({ patch: expect.stringContaining('+US-001'), cut: false });
    expect(await call('get_diff', { loop: 'shop', iteration: 1 })).toMatchObject({
      span: expect.stringMatching(/^checkpoint/),
    });
    expect(await call('pause', { loop: 'shop' })).toBe('ended');
    await client.close();
    const inside = await place.ralph(['mcp', 'serve'], { env: { RALPH_LOOP: 'x', RALPH_ITERATION: '1' }, input: '' });
    expect([inside.code, inside.stdout]).toEqual([2, '']);
    expect(inside.stderr).toContain('was refused');
  }));
