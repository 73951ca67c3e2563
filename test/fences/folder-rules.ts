// Fences about folders and paths: how many files a folder holds, and that every path a guard names is there.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import ts from 'typescript';
import type { Finding } from './check.ts';
import { everything, type House } from './house.ts';
import { type Modules, typescriptIn } from './module.ts';
import { anyOf, isWithin, placeOf } from './rooms.ts';

export function* folderSize(modules: Modules, house: House): Iterable<Finding> {
  const direct = new Map<string, number>();
  const inside = new Map<string, number>();
  for (const file of modules.keys()) {
    const folder = `${posix.dirname(file)}/`;
    direct.set(folder, (direct.get(folder) ?? 0) + 1);
    for (let above = folder; above !== './'; above = `${posix.dirname(above)}/`)
      inside.set(above, (inside.get(above) ?? 0) + 1);
  }
  for (const [folder, count] of direct) {
    if (count > house.filesInFolderMax && !house.collections.includes(folder))
      yield { file: folder, detail: `${count} files, at most ${house.filesInFolderMax}` };
  }
  for (const [folder, count] of inside) {
    const isSubfolder = folder.split('/').length > 3 && `${posix.dirname(folder)}/` !== house.modeFolder;
    if (isSubfolder && count < house.filesInSubfolderMin)
      yield { file: folder, detail: `${count} files, at least ${house.filesInSubfolderMin}` };
  }
}

/** A path that matches nothing switches its guard off in silence, so it is a break: moves must not do that. */
export function* deadPath(modules: Modules, house: House, root: string): Iterable<Finding> {
  const files = [...modules.keys()];
  for (const [name, paths] of Object.entries(pathsOf(house))) {
    for (const path of paths) {
      if (!files.some(file => isWithin(file, [path]))) yield inHouse(`${name} names ${path}, which is not there`);
    }
  }
  const used = new Set(files.map(file => placeOf(house, file)?.key));
  for (const [key, { values, types = [] }] of Object.entries(house.rooms)) {
    if (!used.has(key)) yield inHouse(`no file is in the room ${key}`);
    for (const name of [...values, ...types]) {
      const isRoom = Object.keys(house.rooms).some(one => one === name || anyOf(one) === name);
      const isOther =
        name === everything || modules.has(`src/${name}`) || files.some(file => boundRoom(house, file) === name);
      if (!isRoom && !isOther) yield inHouse(`${key} may import ${name}, which is not there`);
    }
  }
  yield* deadInLists(modules, house, root);
  yield* deadMocks(root);
}

/** A mock of a file that is not there replaces nothing, and vitest says nothing. */
function* deadMocks(root: string): Iterable<Finding> {
  for (const file of typescriptIn(root, 'test')) {
    for (const [, path] of readFileSync(join(root, file), 'utf8').matchAll(/^\s*vi\.mock\('(\.[^']+)'/gm)) {
      const target = posix.join(posix.dirname(file), path!);
      if (!existsSync(join(root, target))) yield { file, detail: `mocks ${target}, which is not there` };
    }
  }
}

const inHouse = (detail: string): Finding => ({ file: 'test/fences/house.ts', detail });
const boundRoom = (house: House, file: string): string | undefined => placeOf(house, file)?.name;

function pathsOf(house: House): Record<string, readonly string[]> {
  const { entries, ports, heavyPackages } = house;
  const doors = [...Object.entries(entries), ...Object.entries(ports)];
  return {
    spawners: house.spawners,
    packageJsonReader: [house.packageJsonReader],
    'entries and ports': doors.flatMap(([folder, files]) => [folder, ...files.map(name => `${folder}${name}`)]),
    compositionRoots: house.compositionRoots,
    collections: house.collections,
    tables: house.tables,
    heavyPackages: Object.values(heavyPackages).filter(home => home !== null),
    coldStartEntry: house.coldStartEntry === undefined ? [] : [house.coldStartEntry],
    proseReaders: house.proseReaders,
    ownNames: [house.modeFolder, house.agentFolder, house.agentRegistry].filter(path => path !== undefined),
    gitWordsOfOthers: Object.keys(house.gitWordsOfOthers),
  };
}

function* deadInLists(modules: Modules, { pathLists }: House, root: string): Iterable<Finding> {
  const rules = { vitest: deadTests, bundle: deadInBundle, knip: deadEntries };
  for (const [kind, file] of Object.entries(pathLists) as [keyof typeof rules, string][]) {
    const path = join(root, file);
    if (!existsSync(path)) yield { file, detail: 'is not there' };
    else for (const detail of rules[kind](readFileSync(path, 'utf8'), root, modules)) yield { file, detail };
  }
}

/** The folders of pure tests: `const pure = ['core', …]` in vitest's settings. */
function* deadTests(text: string, root: string): Iterable<string> {
  const names = stringsOf(text, 'pure');
  if (names.length === 0) yield 'has no list `pure` of folders below test';
  for (const name of names) {
    if (!isThere(root, `test/${name}/**/*.test.ts`)) yield `pure names test/${name}, where no test is`;
  }
}

function* deadEntries(text: string, root: string): Iterable<string> {
  const { entry = [], project = [] } = JSON.parse(text) as { entry?: string[]; project?: string[] };
  for (const pattern of [...entry, ...project]) {
    if (!pattern.startsWith('!') && !isThere(root, pattern)) yield `names ${pattern}, which matches nothing`;
  }
}

/** What the bundler is told of single files and libraries: its entries, and what has a file of its own. */
function* deadInBundle(text: string, root: string, modules: Modules): Iterable<string> {
  for (const [, path] of text.matchAll(/'(src\/[^']+)'/g)) {
    if (!existsSync(join(root, path!))) yield `names ${path}, which is not there`;
  }
  const names = stringsOf(text, 'libraries');
  if (names.length === 0) yield 'has no list `libraries`';
  const imported = new Set([...modules.values()].flatMap(({ imports }) => imports.map(one => one.specifier)));
  for (const name of names) if (!imported.has(name)) yield `libraries names ${name}, which nothing imports`;
}

/** The string literals in what a constant of this name is made of, up to the call that maps them. */
function stringsOf(text: string, constant: string): string[] {
  const tree = ts.createSourceFile('list.ts', text, ts.ScriptTarget.ESNext, true);
  const found: string[] = [];
  const look = (node: ts.Node): void => {
    if (ts.isArrayLiteralExpression(node))
      found.push(...node.elements.filter(ts.isStringLiteralLike).map(one => one.text));
    else ts.forEachChild(node, look);
  };
  ts.forEachChild(tree, function declared(node: ts.Node): void {
    if (ts.isVariableDeclaration(node) && node.name.getText(tree) === constant) look(node);
    else ts.forEachChild(node, declared);
  });
  return found;
}

const isThere = (root: string, pattern: string): boolean => globSync(pattern, { cwd: root }).length > 0;
