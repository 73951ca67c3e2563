// `ralph report`: the account of a loop from its ledger.
import { eventsIn } from '../../app/loops.ts';
import { ReportView, reportMarkdown } from '../../views/report.ts';
import { type Context, type Flags, loopStateOf, printJson, type Words } from '../context.ts';
import { plain } from '../terminal.ts';

export async function execute(context: Context, [name]: Words, flags: Flags): Promise<number> {
  const { ledger, row, state } = await loopStateOf(context, name);
  const view = new ReportView();
  for await (const { event } of eventsIn(ledger, row.loop)) view.add(event);
  const report = view.report(state);
  if (flags['json'] === true) return printJson(context, report);
  context.out(plain(reportMarkdown(report, state)).trimEnd());
  return 0;
}
