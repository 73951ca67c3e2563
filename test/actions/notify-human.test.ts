import { appendFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { notifyHuman } from '../../src/actions/notify-human.ts';
import type { Assignment } from '../../src/agents/performer.ts';
import { activitiesOf, assignmentIn, endOf, performerContract } from '../contracts/performer.ts';
import { scratchDirectory } from '../processes/fixture.ts';

const plan = { id: 'plan_onboarding_001', objective: 'Onboard Acme', document: 'Plans/PLAN_onboarding_001.md' };
const order = (message: string): Partial<Assignment> => ({
  task: 'step_2',
  order: { type: 'notify_human', message },
  intend: async () => true,
});

performerContract({
  name: 'notify_human',
  greeting: 'The note is in plan_notification_plan_onboarding_001_step_2.md.',
  make: behaviour => ({
    ...notifyHuman({ vault: 'unused', plan }),
    perform: (assignment, stop) =>
      notifyHuman({ vault: scratchDirectory(), plan }).perform(
        { ...assignment, ...(behaviour === 'fails' ? {} : order('Call them.')) },
        stop,
      ),
  }),
  directory: () => import.meta.dirname,
  spawns: 'it writes a file itself',
  readsPrompt: 'an action does what its order says and gets no prompt',
  hangs: 'it writes one file and is done',
});

async function notify(vault: string, message: string, more: Partial<Parameters<typeof notifyHuman>[0]> = {}) {
  const performer = notifyHuman({ vault, plan, ...more });
  return endOf(await activitiesOf(performer, assignmentIn(import.meta.dirname, order(message))));
}

const name = 'plan_notification_plan_onboarding_001_step_2.md';

it('leaves a note with the front matter that people and tools look for, made of the message and the plan', async () => {
  const vault = join(scratchDirectory(), 'vault');
  const folder = join(vault, 'Needs_Action');
  await notify(vault, 'Call \u001b[31mthem\u001b[0m.\n---\nplan_id: other');
  const text = readFileSync(join(folder, name), 'utf8');
  const [, front, body] = /^---\n(.*?)\n---\n(.*)$/s.exec(text) ?? [];
  expect(parse(front ?? '')).toEqual({ plan_id: plan.id, step_num: 2, severity: 'info', action_required: true });
  for (const word of ['Call them.', 'Onboard Acme', 'Plans/PLAN_onboarding_001.md', 'ralph tell loop-1'])
    expect(body).toContain(word);
  expect(text).not.toContain('\u001b');
});

it('writes a note once, and does not touch one that a person wrote into', async () => {
  const vault = scratchDirectory();
  const folder = join(vault, 'Needs_Action');
  await notify(vault, 'Call them.');
  await notify(vault, 'Call them.');
  expect(readdirSync(folder)).toEqual([name]);
  appendFileSync(join(folder, name), 'done on Monday\n');
  const { message } = await notify(vault, 'Call them.');
  expect(message).toBe(`The note is in ${name.replace('.md', '_2.md')}.`);
  expect(readFileSync(join(folder, name), 'utf8')).toContain('done on Monday');
});

it('keeps a plan with an odd id in its folder, and quotes what YAML would read otherwise', async () => {
  const vault = scratchDirectory();
  const folder = join(vault, 'Needs_Action');
  await notify(vault, '', { plan: { ...plan, id: '../../etc/yes: [1' } });
  const [only] = readdirSync(folder);
  expect(only).toBe('plan_notification__etc_yes_1_step_2.md');
  const front = readFileSync(join(folder, only ?? ''), 'utf8').split('---\n')[1] ?? '';
  expect(parse(front)).toMatchObject({ plan_id: '../../etc/yes: [1', severity: 'info' });
});

it('leaves no note where the folder of notes leads out of the vault', async () => {
  const scratch = scratchDirectory();
  for (const name of ['vault', 'elsewhere']) mkdirSync(join(scratch, name));
  symlinkSync(join(scratch, 'elsewhere'), join(scratch, 'vault/Needs_Action'));
  const { failure } = await notify(join(scratch, 'vault'), 'Call them.');
  expect(failure).toMatchObject({ kind: 'refused', detail: expect.stringContaining('leads out of the folders') });
  expect(readdirSync(join(scratch, 'elsewhere'))).toEqual([]);
});
