// `ralph report`: the account of a loop from its ledger, for a terminal as text, for pipes as Markdown, for programs as JSON.
import { UsageError } from '../../text/errors.ts';
import { reportMarkdown, reportParts } from '../../views/report.ts';
import { type Context, type Flags, loopOf, printJson, type Words } from '../context.ts';
import { makeStyle, plain } from '../terminal.ts';

export async function execute(context: Context, [name]: Words, flags: Flags): Promise<number> {
  const isMarkdown = flags['md'] === true;
  if (isMarkdown && flags['json'] === true)
    throw new UsageError('--md and --json contradict each other.', 'Leave one of them out.');
  const { loops, row } = await loopOf(context, name);
  if (flags['json'] === true) return printJson(context, await loops.view(row.loop, { history: true }));
  const fold = await loops.fold(row.loop);
  const [report, { state }] = [fold.report(), fold];
  if (isMarkdown || process.stdout.isTTY !== true) context.out(plain(reportMarkdown(report, state)).trimEnd());
  else {
    const { terminalReport } = await import('../output/terminal-report.ts');
    context.out(terminalReport(reportParts(report, state), makeStyle(flags, process.stdout)));
  }
  return 0;
}
