/**
 * Checks a change in at most two minutes: format, lint, types, unused code, and the tests that it
 * concerns most, on SQLite. The argument is the revision to compare with, `main` by default.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { importsOf, resolveImport } from './support/architecture/imports.ts'
import { testsOfChange } from './support/architecture/tests-of-change.ts'
import { rootDir } from './support/paths.ts'

/** As many files take about a minute on two cores. */
const testFilesMax = 30

/** Each takes as long as all others. */
const long = new Set([
  'test/console/browser/first-use.test.ts',
  'test/console/browser/working-day.test.ts',
  'test/gallery/accuracy.test.ts',
])

/** The rules for all files. */
const always = ['test/architecture.test.ts', 'test/wording.test.ts']

const [base = 'main'] = process.argv.slice(2)
const changed = changedFiles(base)
const tests = testsOfChange(changed, readImports()).filter(
  (file) => !long.has(file) || changed.includes(file),
)
const selected = [...new Set([...always, ...tests.slice(0, testFilesMax)])]
const commands = [
  ...['format', 'lint', 'types', 'dead'].map((script) => ['npm', 'run', '-s', script]),
  [process.execPath, '--test', '--test-global-setup=test/global-setup.ts', ...selected],
]
const failed = commands.filter(([command = '', ...args]) => {
  const { status } = spawnSync(command, args, { cwd: rootDir, stdio: 'inherit' })
  return status !== 0
})
process.stdout.write(
  `${changed.length} changed files; ${selected.length} test files ran. npm test runs all others.\n`,
)
process.exit(failed.length > 0 ? 1 : 0)

/** Returns the files that differ from the last common commit with a revision. */
function changedFiles(revision: string): string[] {
  const git = (...args: string[]): string[] =>
    execFileSync('git', args, { cwd: rootDir, encoding: 'utf8' }).split('\n').filter(Boolean)
  const [commonCommit = revision] = git('merge-base', revision, 'HEAD')
  return [
    ...git('diff', '--name-only', commonCommit),
    ...git('ls-files', '--others', '--exclude-standard'),
  ]
}

function readImports(): Map<string, readonly string[]> {
  const files = globSync('{src,test,web,client,docs,deploy,eval,bench,fuzz,soak}/**/*.{ts,tsx}', {
    cwd: rootDir,
    exclude: ['**/node_modules/**', '**/dist/**', '**/output/**', 'test/packaging/**'],
  })
  return new Map(
    files.map((file) => {
      const imports = importsOf(readFileSync(path.join(rootDir, file), 'utf8'))
      return [file, imports.map(({ target }) => resolveImport(file, target))]
    }),
  )
}
