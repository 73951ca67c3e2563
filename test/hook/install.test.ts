// The hook in the settings of an agent: other hooks stay, twice is once, and the way back is byte by byte.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { hookedAgents } from '../../src/app/hooks.ts';
import {
  changedLines,
  type HookOrder,
  hookIn,
  removeHook,
  withHook,
  withoutHook,
  withoutInstall,
  writeHook,
} from '../../src/hook/install.ts';

const agents = await hookedAgents();
const orderOf = (name: string, timeoutMs = 1_260_000): HookOrder => {
  const hooks = agents.find(one => one.name === name)?.hooks;
  if (hooks === undefined) throw new Error(name);
  return { hooks, command: ['/opt/node', '/opt/ralph one/bin/ralph'], timeoutMs };
};

const textIn = (before: string | undefined, order: HookOrder): string => {
  const edited = withHook(before, order);
  if (!edited.ok) throw new Error(edited.problem);
  return edited.text;
};

it('is written as each agent takes it, with its timeout above two checks', () => {
  expect(JSON.parse(textIn(undefined, orderOf('claude')))).toEqual({
    env: { CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: '500' },
    hooks: Object.fromEntries(
      ['Stop', 'StopFailure'].map(event => [
        event,
        [
          {
            hooks: [
              {
                type: 'command',
                command: '/opt/node',
                args: [
                  ...['/opt/ralph one/bin/ralph', 'hook', 'stop', '--timeout', '1260'],
                  ...['--cap', '8,CLAUDE_CODE_STOP_HOOK_BLOCK_CAP'],
                ],
                timeout: 1_260,
              },
            ],
          },
        ],
      ]),
    ),
  });
  const command = '/opt/node "/opt/ralph one/bin/ralph" hook stop --timeout 1260';
  expect(JSON.parse(textIn(undefined, orderOf('codex')))).toEqual({
    hooks: { Stop: [{ hooks: [{ type: 'command', command, timeout: 1_260 }] }] },
  });
  expect(JSON.parse(textIn('{"ui":{"theme":"x"}}', orderOf('gemini')))).toEqual({
    ui: { theme: 'x' },
    hooksConfig: { enabled: true },
    hooks: { AfterAgent: [{ hooks: [{ type: 'command', command, timeout: 1_260_000 }] }] },
  });
});

const others = `{
    "model": "x",
    "env": {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "20", "A": "1"},
    "hooks": {
        "Stop": [{"matcher": "", "hooks": [{"type": "command", "command": "echo hook stop"}]}],
        "PreToolUse": []
    }
}`;

it.each(agents.map(({ name }) => name))('keeps what is there, and twice is once: %s', name => {
  const order = orderOf(name);
  for (const before of [undefined, '', '{}', others]) {
    const once = textIn(before, order);
    expect(textIn(once, order)).toBe(once);
    expect(hookIn(once, order)).toBe('current');
    expect(hookIn(before, order)).toBe('absent');
    expect(hookIn(once, orderOf(name, 70_000))).toBe('other');
    const newer = textIn(once, orderOf(name, 70_000));
    expect(hookIn(newer, orderOf(name, 70_000))).toBe('current');
    const gone = withoutHook(newer, order.hooks);
    const { hooksConfig: _needed, ...kept } = JSON.parse((gone.ok && gone.text) || '{}');
    expect(kept).toEqual(JSON.parse(before || '{}'));
  }
});

it('a cap that the user has set stays, when it comes and when it goes', () => {
  const order = orderOf('claude');
  const there = textIn(others, order);
  expect(JSON.parse(there).env).toEqual({ CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: '20', A: '1' });
});

it.each(['// a comment\n{}', '[]', '{"hooks":'])('leaves a file alone that it cannot read: %s', text => {
  expect(withHook(text, orderOf('claude')).ok).toBe(false);
  expect(withoutHook(text, orderOf('claude').hooks).ok).toBe(false);
  expect(hookIn(text, orderOf('claude'))).toBe('unreadable');
});

function onDisk(before: string | undefined) {
  const root = mkdtempSync(join(tmpdir(), 'install-'));
  const path = join(root, 'agent', 'settings.json');
  if (before !== undefined) {
    mkdirSync(join(root, 'agent'));
    writeFileSync(path, before);
  }
  const order = orderOf('claude');
  const text = () => (existsSync(path) ? readFileSync(path, 'utf8') : undefined);
  const install = (): void => writeHook(root, path, text(), textIn(text(), order));
  const uninstall = (): void => {
    const edited = withoutHook(text(), order.hooks);
    if (edited.ok) removeHook(root, path, withoutInstall(root, path, text() ?? '', edited.text));
  };
  return { path, text, install, uninstall };
}

it.each([undefined, '{}', others, '{ "a" :1 }'])('undo gives back every byte: %s', before => {
  const { text, install, uninstall } = onDisk(before);
  install();
  expect(text()).not.toBe(before);
  uninstall();
  expect(text()).toBe(before);
});

it('undo after somebody has edited the file takes out the hook alone', () => {
  const { path, text, install, uninstall } = onDisk(others);
  install();
  writeFileSync(path, JSON.stringify({ ...JSON.parse(text() ?? ''), model: 'y' }));
  uninstall();
  expect(JSON.parse(text() ?? '')).toEqual({ ...JSON.parse(others), model: 'y' });
});

it('shows what changes, and nothing else', () => {
  expect(changedLines('a\nb\nc\n', 'a\nx\ny\nc\n')).toEqual(['- b', '+ x', '+ y']);
  expect(changedLines(undefined, 'a\n')).toEqual(['+ a']);
  expect(changedLines('a\n', 'a\n')).toEqual([]);
});

it('is called by the plugin where that is enabled and the settings do not call it themselves', () => {
  const order = orderOf('claude');
  const settings = (isOn: boolean): string => JSON.stringify({ enabledPlugins: { 'ralph@ralph-wiggum': isOn } });
  expect([true, false].map(isOn => hookIn(settings(isOn), order))).toEqual(['plugin', 'absent']);
  expect(hookIn(textIn(settings(true), order), order)).toBe('current');
});
