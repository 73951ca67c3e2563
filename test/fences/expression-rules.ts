// Fences about expressions: no conditional spreads, no decisions on sentences, names of modes and agents in their places.
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

/** The folders of modes, the files of agents. */
function namesIn(modules: Modules, folder: string | undefined): ReadonlySet<string> {
  const within = [...modules.keys()].filter(file => folder !== undefined && file.startsWith(folder));
  return new Set(within.map(file => file.slice(folder!.length).split('/')[0]!.replace(/\.ts$/, '')));
}

/** A mode's name stands in src/modes alone: elsewhere nothing is compared with one, and none is given. */
export function* modeNames(modules: Modules, { modeFolder, modeHomonyms }: House): Iterable<Finding> {
  const names = namesIn(modules, modeFolder);
  for (const [file, module] of modules) {
    if (modeFolder === undefined || file.startsWith(modeFolder)) continue;
    for (const node of module.nodes) {
      if (!ts.isStringLiteralLike(node) || !names.has(node.text)) continue;
      const use = useOf(node);
      if (use !== undefined && isOfMode(use, module, modeFolder, modeHomonyms))
        yield { file, detail: told(module, node.parent) };
    }
  }
}

/** What a literal is compared with, given to, or stands in for. */
function useOf(literal: ts.Node): { readonly how: 'compared' | 'given' | 'argument'; readonly to: string } | undefined {
  const parent = literal.parent;
  if (ts.isCaseClause(parent)) return { how: 'compared', to: parent.parent.parent.expression.getText() };
  if (ts.isBinaryExpression(parent)) {
    const how = comparisons.has(parent.operatorToken.kind) ? 'compared' : 'given';
    return { how, to: (parent.left === literal ? parent.right : parent.left).getText() };
  }
  if (ts.isCallExpression(parent)) return { how: 'argument', to: parent.expression.getText() };
  const isNamed = ts.isPropertyAssignment(parent) || ts.isParameter(parent) || ts.isVariableDeclaration(parent);
  if (isNamed || ts.isBindingElement(parent)) return { how: 'given', to: parent.name.getText() };
  return ts.isConditionalExpression(parent) || ts.isAsExpression(parent) ? useOf(parent) : undefined;
}

function isOfMode(
  { how, to }: NonNullable<ReturnType<typeof useOf>>,
  module: Module,
  folder: string,
  homonyms: readonly string[],
): boolean {
  if (how === 'compared') return !homonyms.some(word => to.split(/\W+/).includes(word));
  if (how === 'given') return /mode$/i.test(to);
  return module.imports.some(
    one => one.target?.startsWith(folder) && new RegExp(`\\b${to}\\b[^;]*${one.specifier}'`).test(module.text),
  );
}

/** An agent's name stands in its record and in the registry alone; the keys of foreign data are no names of ours. */
export function* agentNames(modules: Modules, { agentFolder, agentRegistry }: House): Iterable<Finding> {
  const names = namesIn(modules, agentFolder);
  for (const [file, module] of modules) {
    if (file === agentRegistry || (agentFolder !== undefined && file.startsWith(agentFolder))) continue;
    for (const node of module.nodes) {
      const isName = ts.isStringLiteralLike(node) && names.has(node.text.split('/')[0]!);
      const { parent } = node;
      if (isName && !ts.isElementAccessExpression(parent) && !isKeyOrExample(parent, node))
        yield { file, detail: told(module, parent) };
    }
  }
}

const isKeyOrExample = (parent: ts.Node, node: ts.Node): boolean =>
  ts.isPropertyAssignment(parent) && (parent.name === node || parent.name.getText() === 'example');
