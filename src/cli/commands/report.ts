// `ralph report`: the account of a loop from its ledger.
import { ledgerEvents, stateOf } from '../../app/app.ts';
import { ReportView, reportMarkdown } from '../../views/report.ts';
import { type Context, type Flags, loopOf, type Words } from '../context.ts';
import { plain } from '../terminal.ts';

export async function execute(context: Context, [name]: Words, flags: Flags): Promise<number> {
  const { ledger, row } = await loopOf(context, name);
  const view = new ReportView();
  for await (const page of ledgerEvents(ledger, row.loop)) for (const { event } of page) view.add(event);
  const { state } = await stateOf(ledger, row.loop);
  const report = view.report(state);
  context.out(
    flags['json'] === true ? JSON.stringify(report, null, 2) : plain(reportMarkdown(report, state)).trimEnd(),
  );
  return 0;
}
