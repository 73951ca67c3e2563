// Records a real run of `ralph demo` as docs/demo.svg; only the name of the scratch folder is shortened.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const home = mkdtempSync(join(tmpdir(), 'ralph-record-'));
const env = {
  ...process.env,
  RALPH_HOME: home,
  FORCE_COLOR: '1',
  TMPDIR: tmpdir(),
  LANG: 'C.UTF-8',
  NO_COLOR: undefined,
};
const ralph = join(root, 'bin', 'ralph');
const run = spawnSync('sh', ['-c', '"$0" "$1" demo 2>&1', process.execPath, ralph], { env, encoding: 'utf8' });
rmSync(home, { recursive: true, force: true });
if (run.status !== 0) throw new Error(`the demo ended with ${run.status}: ${run.stdout}`);

const text = run.stdout.replaceAll(/\S*\/ralph-demo-\w+/g, '/tmp/ralph-demo').trimEnd();
const columnsMax = 120;
const lineHeight = 18;
const colours = { 1: '#ffffff', 31: '#ff7b72', 32: '#7ee787', 33: '#e3b341', 90: '#8b949e' };

const escaped = part => part.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Colour sequences become spans; a colour may go on over several lines. */
function spans(lines) {
  let style = '';
  return lines.map(line =>
    line
      .split(/\x1b\[(\d+)m/)
      .map((part, at) => {
        if (at % 2 === 1) {
          const fill = colours[part];
          style = fill === undefined ? '' : ` fill="${fill}"${part === '1' ? ' font-weight="bold"' : ''}`;
          return '';
        }
        return part === '' ? '' : style === '' ? escaped(part) : `<tspan${style}>${escaped(part)}</tspan>`;
      })
      .join(''),
  );
}

const lengthOf = shown => shown.replaceAll(/\x1b\[\d+m/g, '').length;

/** As a terminal of this width shows it: broken between words, the rest below the first word after the time. */
function broken(line) {
  const [first, ...words] = line.split(' ');
  const rows = [first];
  for (const word of words) {
    const longer = `${rows.at(-1)} ${word}`;
    if (lengthOf(longer) <= columnsMax) rows[rows.length - 1] = longer;
    else rows.push(`${' '.repeat('[00:00:00] '.length)}${word}`);
  }
  return rows;
}

const lines = spans(['$ ralph demo', ...text.split('\n').flatMap(broken)]);
const width = columnsMax * 8.45 + 40;
const height = lines.length * lineHeight + 40;
const body = lines.map((line, row) => `<text x="20" y="${34 + row * lineHeight}" xml:space="preserve">${line}</text>`);
const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="A recorded run of ralph demo">
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" fill="#c9d1d9">
${body.join('\n')}
</g>
</svg>
`;
writeFileSync(join(root, 'docs', 'demo.svg'), svg);
