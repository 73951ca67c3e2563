// `ralph doctor`: what a loop needs from this machine, one line each, and what to do about those that are wrong.

import { examine, exitCodeOf, type Finding } from '../../app/doctor.ts';
import { type Context, configuredRun, type Flags, printJson, type Words } from '../context.ts';
import { hanging, makeStyle, type Style, type Tone } from '../terminal.ts';

const tones: Readonly<Record<Finding['verdict'], Tone>> = {
  ok: 'good',
  warning: 'attention',
  unknown: 'quiet',
  bad: 'bad',
};

function lines({ name, verdict, detail, fix }: Finding, style: Style): readonly string[] {
  const head = `${verdict.padEnd(8)} ${name.padEnd(15)} `;
  const painted = `${style.paint(tones[verdict], verdict.padEnd(8))}${head.slice(8)}`;
  const text = hanging(head, detail, style.columns()).slice(head.length);
  const remedy =
    fix === undefined || verdict === 'ok' ? [] : [hanging(' '.repeat(head.length), `fix: ${fix}`, style.columns())];
  return [`${painted}${text}`, ...remedy];
}

export async function execute(context: Context, _words: Words, flags: Flags): Promise<number> {
  const { env, directory } = context;
  const { config } = await configuredRun(context);
  const findings = await examine({ env, directory, home: context.home(), config });
  const exitCode = exitCodeOf(findings);
  if (flags['json'] === true) {
    const shown = findings.map(({ exitCode: _code, ...one }) => one);
    return printJson(context, { ok: exitCode === 0, findings: shown }, exitCode);
  }
  const style = makeStyle(flags, process.stdout);
  for (const one of findings) for (const line of lines(one, style)) context.out(line);
  return exitCode;
}
