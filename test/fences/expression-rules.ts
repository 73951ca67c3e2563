// Fences about expressions: no conditional spreads, no decisions on sentences, mode names in their folder.
import ts from 'typescript';
import type { Finding } from './check.ts';
import type { House } from './house.ts';
import { type Module, type Modules, told } from './module.ts';
import { isWithin } from './rooms.ts';

/** `...(x === undefined ? {} : { x })` does nothing that `x` would not do: optional means undefined. */
export function* conditionalSpread(module: Module): Iterable<Finding> {
  for (const node of module.nodes) {
    if (ts.isSpreadAssignment(node) && isConditional(bare(node.expression))) yield { detail: told(module, node) };
  }
}

function isConditional(node: ts.Expression): boolean {
  if (ts.isConditionalExpression(node)) return [node.whenTrue, node.whenFalse].some(one => isEmptyObject(bare(one)));
  if (!ts.isBinaryExpression(node)) return false;
  return (
    node.operatorToken.kind === ts.SyntaxKind.AmpersandAmpersandToken && ts.isObjectLiteralExpression(bare(node.right))
  );
}

const isEmptyObject = (node: ts.Expression): boolean =>
  ts.isObjectLiteralExpression(node) && node.properties.length === 0;

/** Without parentheses, `!`, `as` and `satisfies`. */
function bare(node: ts.Expression): ts.Expression {
  const isWrapped =
    ts.isParenthesizedExpression(node) ||
    ts.isNonNullExpression(node) ||
    ts.isAsExpression(node) ||
    ts.isSatisfiesExpression(node);
  return isWrapped ? bare(node.expression) : node;
}

const proseNames = new Set(['because', 'detail', 'label', 'summary', 'question', 'hint', 'reasonText', 'sentence']);
/** A kind nearly everywhere, so it may be compared; who looks into it takes it for a sentence. */
const kindName = 'reason';
const proseListName = 'options';
const comparisons = new Set([
  ts.SyntaxKind.EqualsEqualsEqualsToken,
  ts.SyntaxKind.ExclamationEqualsEqualsToken,
  ts.SyntaxKind.EqualsEqualsToken,
  ts.SyntaxKind.ExclamationEqualsToken,
]);
const askedOfProse = new Set(['startsWith', 'endsWith', 'includes', 'match', 'matchAll', 'search', 'indexOf']);
const askedAboutProse = new Set(['test', 'exec']);
const sameProse = new Set('trim trimStart trimEnd toLowerCase toUpperCase slice at'.split(' '));

/** Sentences are for people: what is decided is decided on ids and kinds. Whether there is one may be asked. */
export function* prose(module: Module, { proseReaders }: House): Iterable<Finding> {
  if (isWithin(module.file, proseReaders)) return;
  for (const node of module.nodes) if (isDecisionOnProse(node)) yield { detail: told(module, node) };
}

function isDecisionOnProse(node: ts.Node): boolean {
  if (ts.isSwitchStatement(node)) return isProse(node.expression);
  if (ts.isCaseClause(node)) return isSentence(node.expression);
  if (ts.isBinaryExpression(node) && comparisons.has(node.operatorToken.kind))
    return [
      [node.left, node.right],
      [node.right, node.left],
    ].some(([one, other]) => isSentence(one!) || (isProse(one!) && !isAbsence(other!)));
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return false;
  const { name, expression } = node.expression;
  if (askedAboutProse.has(name.text)) return node.arguments.slice(0, 1).some(one => isProse(one) || isKind(one));
  if (!askedOfProse.has(name.text)) return false;
  if (node.arguments.some(isSentence)) return true;
  return (
    isProse(expression) ||
    isKind(expression) ||
    (ts.isArrayLiteralExpression(bare(expression)) && node.arguments.some(isProse))
  );
}

/** `because`, `ending.because`, `event['detail']`, `options[1]`, and the same trimmed or with a stand-in. */
function isProse(given: ts.Expression): boolean {
  const node = textOf(given);
  if (ts.isIdentifier(node)) return proseNames.has(node.text);
  if (ts.isPropertyAccessExpression(node)) return proseNames.has(node.name.text);
  if (ts.isElementAccessExpression(node)) {
    const key = bare(node.argumentExpression);
    return (ts.isStringLiteralLike(key) && proseNames.has(key.text)) || isProseList(node.expression);
  }
  if (ts.isBinaryExpression(node))
    return node.operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken && isProse(node.left);
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return false;
  const { name, expression } = node.expression;
  if (!sameProse.has(name.text)) return false;
  return isProse(expression) || (name.text === 'at' && isProseList(expression));
}

/** Two words or more: whatever is compared with them is prose, by any name. */
function isSentence(given: ts.Expression): boolean {
  const node = bare(given);
  return ts.isStringLiteralLike(node) && /\p{L} \p{L}/u.test(node.text);
}

function isKind(given: ts.Expression): boolean {
  const node = textOf(given);
  if (ts.isIdentifier(node)) return node.text === kindName;
  return ts.isPropertyAccessExpression(node) && node.name.text === kindName;
}

/** `String(x)` says what x says. */
function textOf(given: ts.Expression): ts.Expression {
  const node = bare(given);
  if (!ts.isCallExpression(node) || node.expression.getText() !== 'String') return node;
  return node.arguments[0] === undefined ? node : bare(node.arguments[0]);
}

function isProseList(given: ts.Expression): boolean {
  const node = bare(given);
  if (ts.isIdentifier(node)) return node.text === proseListName;
  return ts.isPropertyAccessExpression(node) && node.name.text === proseListName;
}

function isAbsence(given: ts.Expression): boolean {
  const node = bare(given);
  if (ts.isStringLiteralLike(node)) return node.text === '';
  if (ts.isIdentifier(node)) return node.text === 'undefined';
  return (
    ts.isNumericLiteral(node) ||
    [ts.SyntaxKind.NullKeyword, ts.SyntaxKind.TrueKeyword, ts.SyntaxKind.FalseKeyword].includes(node.kind)
  );
}

/** Both ways: who takes a comparison away lowers the number with it. */
export function* modeNames(modules: Modules, house: House): Iterable<Finding> {
  const found = modeNameComparisons(modules, house);
  const { modeNameComparisons: known } = house;
  if (found.length === known) return;
  const hint = found.length < known ? 'lower the number in test/fences/house.ts' : found.join('; ');
  const detail = `${found.length} comparisons with a mode's name outside its folder, ${known} known: ${hint}`;
  yield { file: house.modeFolder ?? 'src/', detail };
}

export function modeNameComparisons(modules: Modules, { modeFolder, modeNames: names }: House): string[] {
  const found: string[] = [];
  for (const [file, module] of modules) {
    if (modeFolder !== undefined && file.startsWith(modeFolder)) continue;
    for (const node of module.nodes) {
      const compared = comparedWith(node).map(bare);
      if (compared.some(one => ts.isStringLiteralLike(one) && names.includes(one.text)))
        found.push(`${file} ${told(module, node)}`);
    }
  }
  return found;
}

function comparedWith(node: ts.Node): ts.Expression[] {
  if (ts.isCaseClause(node)) return [node.expression];
  return ts.isBinaryExpression(node) && comparisons.has(node.operatorToken.kind) ? [node.left, node.right] : [];
}
