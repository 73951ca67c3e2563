// `ralph report`: the account of a loop from its ledger.
import { reportMarkdown } from '../../views/report.ts';
import { type Context, type Flags, loopOf, printJson, type Words } from '../context.ts';
import { plain } from '../terminal.ts';

export async function execute(context: Context, [name]: Words, flags: Flags): Promise<number> {
  const { loops, row } = await loopOf(context, name);
  const report = await loops.report(row.loop);
  if (flags['json'] === true) return printJson(context, report);
  const { state } = await loops.look(row);
  context.out(plain(reportMarkdown(report, state)).trimEnd());
  return 0;
}
