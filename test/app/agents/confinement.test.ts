// What a run asks of bubblewrap, by --sandbox and by what this machine can do.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';

const machine = vi.hoisted(() => ({ kind: 'bubblewrap', asked: 0 }));
vi.mock('../../../src/processes/confine.ts', () => ({
  confinementKind: () => {
    machine.asked += 1;
    return machine.kind;
  },
}));
vi.mock('../../../src/git/hooks.ts', () => ({
  gitPathsToProtect: (directory: string) => [`${directory}/.git/hooks`, `${directory}/.git/config`],
}));

const { confinementFor, containmentWords, readOnlyWords } = await import('../../../src/app/agents/process-limits.ts');

const place = { directory: '/projects/shop', home: '/home/ada/ralph', env: { HOME: '/home/ada' } };
beforeEach(() => {
  machine.kind = 'bubblewrap';
  machine.asked = 0;
});

function scratch(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-confinement-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

describe('what is asked for', () => {
  it('hides our home and protects what git would run and what our next run would read', () => {
    expect(confinementFor({ config: { sandbox: 'auto' }, ...place })).toEqual({
      hidden: ['/home/ada/ralph'],
      readOnly: ['/projects/shop/.git/hooks', '/projects/shop/.git/config', '/home/ada/.config/ralph'],
      writable: [],
    });
  });

  it('protects the approved plans of a vault, and what else is named', () => {
    const directory = scratch();
    for (const name of ['vault/Approved', 'vault/Plans', 'Approved'])
      mkdirSync(join(directory, name), { recursive: true });
    const asked = confinementFor({ config: { sandbox: 'auto' }, ...place, directory, readOnly: ['/etc/mcp.json'] });
    const kept = [join(directory, 'vault/Approved'), join(directory, 'vault/Needs_Action'), '/etc/mcp.json'];
    expect(asked?.readOnly.slice(-3)).toEqual(kept);
    mkdirSync(join(directory, 'Plans'));
    expect(confinementFor({ config: { sandbox: 'auto' }, ...place, directory })?.readOnly).toContain(
      join(directory, 'Approved'),
    );
  });

  it('leaves the work folder open when it lies in our home, but not one beside it with a similar name', () => {
    const inside = { ...place, directory: '/home/ada/ralph/work' };
    expect(confinementFor({ config: { sandbox: 'auto' }, ...inside })?.writable).toEqual(['/home/ada/ralph/work']);
    const beside = { ...place, directory: '/home/ada/ralph-work' };
    expect(confinementFor({ config: { sandbox: 'auto' }, ...beside })?.writable).toEqual([]);
  });

  it('leaves the home of the user open when it lies in ours: the login of the agent is there', () => {
    const odd = { ...place, home: '/data', env: { HOME: '/data/ada' } };
    expect(confinementFor({ config: { sandbox: 'auto' }, ...odd })?.writable).toEqual(['/data/ada']);
    expect(confinementFor({ config: { sandbox: 'auto' }, ...place, env: {} })?.writable).toEqual([]);
  });

  it('sees through links: a work folder in the real place of our home stays open', () => {
    const root = scratch();
    const [real, home] = [join(root, 'data'), join(root, 'link')];
    mkdirSync(join(real, 'work'), { recursive: true });
    symlinkSync(real, home);
    const asked = { config: { sandbox: 'auto' }, env: {} } as const;
    for (const directory of [join(real, 'work'), join(home, 'work')])
      expect(confinementFor({ ...asked, home, directory })).toMatchObject({
        hidden: [real],
        writable: [join(real, 'work')],
      });
    const notYet = { ...asked, home: join(home, 'new', 'home'), directory: join(real, 'new', 'home', 'work') };
    expect(confinementFor(notYet)?.writable).toEqual([notYet.directory]);
  });

  it.each(['work folder', 'home of the user'])(
    'hides what we keep, one by one, when our home is also the %s',
    which => {
      const home = scratch();
      for (const name of ['ralph.db', 'ralph.db.backup-v1', 'notes']) writeFileSync(join(home, name), '');
      const [directory, user] = which === 'work folder' ? [home, '/home/ada'] : [join(home, 'shop'), home];
      const asked = confinementFor({ config: { sandbox: 'auto' }, home, directory, env: { HOME: user } });
      const kept = [
        'ralph.db',
        'ralph.db-wal',
        'ralph.db-shm',
        'reserve',
        'loops',
        'run',
        'probes.json',
        'ralph.db.backup-v1',
      ];
      expect(asked).toMatchObject({ hidden: kept.map(name => join(home, name)), writable: [] });
    },
  );

  it('is nothing with --sandbox none', () => {
    expect(confinementFor({ config: { sandbox: 'none' }, ...place })).toBeUndefined();
  });

  it('tries nothing out with auto: a run that is refused leaves no trace', () => {
    confinementFor({ config: { sandbox: 'auto' }, ...place });
    expect(machine.asked).toBe(0);
  });
});

describe('where bubblewrap does not work', () => {
  beforeEach(() => {
    machine.kind = 'none';
  });

  it('--sandbox bwrap is refused with exit 10', () => {
    expect(() => confinementFor({ config: { sandbox: 'bwrap' }, ...place })).toThrow(
      expect.objectContaining({ exitCode: 10, message: 'Bubblewrap is asked for and does not work here.' }),
    );
  });

  it('the card says "not confined"', () => {
    expect(containmentWords('auto')).toContain('not confined (bubblewrap does not work here)');
    machine.kind = 'bubblewrap';
    expect(containmentWords('none')).toContain('not confined (--sandbox none)');
    for (const sandbox of ['auto', 'bwrap'] as const) expect(containmentWords(sandbox)).not.toContain('not confined');
  });
});

describe('what a confined agent is told in its prompt', () => {
  it('names what it cannot change and how that fails', () => {
    const told = readOnlyWords('auto', '/projects/shop');
    expect(told).toMatch(/Ralph's own settings\. The hooks and the config of git: .*Device or resource busy/);
  });

  it('is nothing where nobody is confined', () => {
    expect(readOnlyWords('none', '/projects/shop')).toBe('');
    machine.kind = 'none';
    expect(readOnlyWords('auto', '/projects/shop')).toBe('');
  });
});
