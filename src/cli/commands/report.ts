// `ralph report`: the account of a loop from its ledger, for people as Markdown, for programs as a LoopView with its history.
import { reportMarkdown } from '../../views/report.ts';
import { type Context, type Flags, loopOf, printJson, type Words } from '../context.ts';
import { plain } from '../terminal.ts';

export async function execute(context: Context, [name]: Words, flags: Flags): Promise<number> {
  const { loops, row } = await loopOf(context, name);
  if (flags['json'] === true) return printJson(context, await loops.view(row.loop, { history: true }));
  const fold = await loops.fold(row.loop);
  context.out(plain(reportMarkdown(fold.report(), fold.state)).trimEnd());
  return 0;
}
