// The types of what a change can reach: the files named and all that import them, however far away. The rest is as it was.
// `node types.ts FOLDER FILE…` in a process of its own, since the compiler's memory is of no use to whoever tests afterwards.
import { join } from 'node:path';
import ts from 'typescript';

const [folder = '', ...changed] = process.argv.slice(2);

function programOf(): ts.Program {
  const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => {} };
  const parsed = ts.getParsedCommandLineOfConfigFile(join(folder, 'tsconfig.json'), {}, host);
  if (parsed === undefined) throw new Error(`${folder} has no tsconfig.json`);
  const own = parsed.fileNames.filter(name => name.startsWith(join(folder, 'src/')));
  return ts.createProgram(own, parsed.options);
}

/** A file that cannot be resolved is an error in whoever imports it, which then is one of those that changed. */
function importersIn(program: ts.Program): ReadonlyMap<string, ReadonlySet<string>> {
  const importers = new Map<string, Set<string>>();
  for (const file of program.getSourceFiles().filter(one => one.fileName.startsWith(folder))) {
    for (const { fileName } of ts.preProcessFile(file.text).importedFiles) {
      const target = join(file.fileName, '..', fileName);
      importers.set(target, (importers.get(target) ?? new Set()).add(file.fileName));
    }
  }
  return importers;
}

const program = programOf();
const importers = importersIn(program);
const reached = new Set(changed.map(name => join(folder, name)));
for (const name of reached) for (const importer of importers.get(name) ?? []) reached.add(importer);

const wrong = [...reached].flatMap(name => {
  const file = program.getSourceFile(name);
  return [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
});
process.stdout.write(ts.formatDiagnostics(wrong, ts.createCompilerHost({})));
process.exitCode = wrong.length === 0 ? 0 : 1;
