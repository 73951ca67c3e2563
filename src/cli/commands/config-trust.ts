// `ralph config trust`: what a project's config sets that only a user may set, shown whole and then taken for good.
import { trustProject } from '../../app/app.ts';
import { UsageError } from '../../text/errors.ts';
import { type Context, configuredRun, type Flags, type Words } from '../context.ts';
import { isInteractive } from '../run-host.ts';
import { confirm, plain } from '../terminal.ts';

export async function execute(context: Context, _words: Words, flags: Flags): Promise<number> {
  const { untrusted } = await configuredRun(context);
  const rows = Object.entries(untrusted).map(([key, value]) => `  ${key}: ${plain(JSON.stringify(value))}`);
  if (rows.length === 0) {
    context.say('Nothing to trust: ralph.config.json sets nothing that only you may set, or you trust it already.');
    return 0;
  }
  context.say(`ralph.config.json of ${context.directory} sets what only you may set:`);
  for (const row of rows) context.say(row);
  if (flags['yes'] !== true) {
    if (!isInteractive(flags)) throw new UsageError('Trust needs your word.', 'Run it at a terminal, or say --yes.');
    if (!(await confirm('It will be run with your rights. Press Enter to trust exactly this, Ctrl-C to leave ')))
      return 130;
  }
  await trustProject(context, untrusted);
  context.say('Trusted, until one of these values changes.');
  return 0;
}
