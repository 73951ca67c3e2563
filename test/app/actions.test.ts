// A file of MCP servers among the files of the work: an agent's edit must not become a program that Ralph starts.
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { configInReach, refuseChangedConfig, refusedFiles } from '../../src/app/actions.ts';
import type { ParsedDocument } from '../../src/documents/document.ts';
import { scratchDirectory } from '../processes/fixture.ts';

const calling = { tasks: [{ performer: 'mcp:mail' }] } as unknown as ParsedDocument;
const writing = { tasks: [{ performer: 'create_file' }, {}] } as unknown as ParsedDocument;

it('is in reach when it lies in the folder of work, also behind a link, and only when a step needs it', async () => {
  const scratch = scratchDirectory();
  const [directory, outside] = [join(scratch, 'work'), join(scratch, 'workshop')];
  for (const folder of [directory, outside]) {
    mkdirSync(folder);
    writeFileSync(join(folder, 'mcp.json'), '{}');
  }
  symlinkSync(join(directory, 'mcp.json'), join(outside, 'link.json'));
  const inReach = (mcpConfig: string | undefined, document = calling): Promise<string | undefined> =>
    configInReach({ config: { mcpConfig }, directory, document });
  expect(await inReach('mcp.json')).toBe(join(directory, 'mcp.json'));
  expect(await inReach('../workshop/link.json')).toBe(join(outside, 'link.json'));
  expect(
    await Promise.all([inReach('../workshop/mcp.json'), inReach(undefined), inReach('mcp.json', writing)]),
  ).toEqual([undefined, undefined, undefined]);
});

it('is held to what it was at the first run of its loop, and no longer than that', async () => {
  const scratch = scratchDirectory();
  const [path, folder] = [join(scratch, 'mcp.json'), join(scratch, 'loop')];
  writeFileSync(path, '{"mcpServers": {}}');
  await refuseChangedConfig(path, folder);
  await refuseChangedConfig(path, folder);
  renameSync(path, join(scratch, 'kept'));
  writeFileSync(path, '{"mcpServers": {"mail": {"command": "evil"}}}');
  await expect(refuseChangedConfig(path, folder)).rejects.toMatchObject({
    exitCode: 5,
    message: expect.stringContaining(path),
  });
  renameSync(join(scratch, 'kept'), path);
  await refuseChangedConfig(path, folder);
  await refuseChangedConfig(path, join(scratch, 'other loop'));
});

it('a file that a run would refuse to make is refused when the plan is read or approved: elsewhere, or through a link', async () => {
  const repository = scratchDirectory();
  const vault = join(repository, 'vault');
  mkdirSync(vault);
  symlinkSync('/etc', join(repository, 'away'));
  const steps = ['/etc/cron.d/x', 'away/cron.d/x', '../x.md', '.git/hooks/x', 'notes/x.md'].map((path, at) => ({
    id: `S${at + 1}`,
    order: { type: 'create_file', path },
  })) as never;
  const refused = await refusedFiles(steps, { vault, repository });
  expect(refused.map(words => words.split(' ')[0])).toEqual(['S1', 'S2', 'S3', 'S4']);
  expect(refused[0]).toContain('"/etc/cron.d/x"');
});
