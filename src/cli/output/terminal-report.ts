// The report as a terminal shows it: headings, lists and tasks in its own width, broken between words; a pipe gets Markdown.

import { columnsOf, padColumns } from '../../text/columns.ts';
import { plural } from '../../text/format.ts';
import type { ReportPart } from '../../views/report.ts';
import { hanging, oneLine, type Style, wrapped } from '../terminal.ts';

const idColumnsMax = 20;

type Tasks = Extract<ReportPart, { is: 'tasks' }>['rows'];

function taskLines(rows: Tasks, columns: number): readonly string[] {
  const width = Math.min(idColumnsMax, Math.max(0, ...rows.map(({ id }) => columnsOf(oneLine(id)))));
  return rows.map(({ id, title, status, proof, attempts }) => {
    const tried = attempts === 0 ? '' : plural(attempts, 'attempt');
    const standing = [status, proof.replace(/\.$/, ''), tried].map(oneLine).filter(text => text !== '');
    return hanging(`  ${padColumns(oneLine(id), width)}  `, `${oneLine(title)} (${standing.join(', ')})`, columns);
  });
}

function partLines(part: ReportPart, style: Style): readonly string[] {
  const columns = style.columns();
  switch (part.is) {
    case 'title':
    case 'heading': {
      const lines = wrapped(oneLine(part.text), columns - 1);
      const rule = style.marks.rule.repeat(Math.max(...lines.map(columnsOf)));
      return [...lines.map(line => style.paint('strong', line)), style.paint('quiet', rule)];
    }
    case 'lines':
      return part.texts.flatMap(text => wrapped(oneLine(text), columns - 1));
    case 'list':
      return part.texts.map(text => hanging('  - ', oneLine(text), columns));
    case 'tasks':
      return taskLines(part.rows, columns);
  }
}

export const terminalReport = (parts: readonly ReportPart[], style: Style): string =>
  parts
    .map(part => partLines(part, style))
    .flatMap((lines, at) => [...(at > 0 && parts[at - 1]?.is !== 'heading' ? [''] : []), ...lines])
    .join('\n');
