import { globSync, statSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import type * as Vite from 'vite'

const webDir = import.meta.dirname
const distDir = path.join(webDir, 'dist')

/** The pages of the site that are beside the programs that they describe. */
const readmeFolders = '{bench,client,clients/*,eval,examples,examples/*,fuzz,soak,test,test/nodes}'

/** The longest wait for the build of another process. */
const lockWaitMs = 600_000

if (import.meta.main) await buildConsole()

/**
 * Builds the console into `web/dist`, and the site of the documentation into `web/dist/docs`, if a
 * source file is newer than the last build. Without the build tool (an installation without
 * development packages) it changes nothing. The service then runs without both, and its page reports
 * this.
 *
 * @returns 'built' after a build, 'fresh' if the last build is current, 'no build tool' otherwise.
 */
export async function buildConsole(): Promise<'built' | 'fresh' | 'no build tool'> {
  if (newestModifiedMs(sourceFiles()) < lastBuiltMs()) return 'fresh'
  const vite = await loadVite()
  if (!vite) {
    if (lastBuiltMs() === 0)
      process.stderr.write(
        'The console was not built: Vite is not installed. Install the development packages.\n',
      )
    return 'no build tool'
  }
  return runAlone(path.join(webDir, '../node_modules/.console-build-lock'), async () => {
    if (newestModifiedMs(sourceFiles()) < lastBuiltMs()) return 'fresh'
    await vite.build({
      configFile: path.join(webDir, 'vite.config.ts'),
      mode: 'production',
      logLevel: 'warn',
    })
    await buildDocumentation()
    await compress()
    return 'built'
  })
}

/**
 * Runs a job while no other process runs one with the same lock file: two builds would delete each
 * other's files. SQLite releases the lock of a process that ends.
 */
export async function runAlone<Result>(lockFile: string, job: () => Promise<Result>) {
  const lock = new DatabaseSync(lockFile, { timeout: lockWaitMs })
  try {
    lock.exec('begin exclusive')
    return await job()
  } finally {
    lock.close()
  }
}

/** Returns the input files of the build. The lock file represents the installed packages. */
function sourceFiles(): string[] {
  const webFiles = globSync('**/*.{ts,tsx,css,html,svg,json}', {
    cwd: webDir,
    exclude: ['dist/**'],
  })
  const otherFiles = globSync(
    ['../client/src/liveness/*.ts', '../docs/**/*', '../*.md', `../${readmeFolders}/README.md`],
    { cwd: webDir },
  )
  const files = [...webFiles, ...otherFiles, '../package-lock.json']
  return files.map((file) => path.join(webDir, file))
}

/** The modules of the site need development packages, which are loaded only now. */
async function buildDocumentation(): Promise<void> {
  const { buildSite } = await import('../docs/build/build-site.ts')
  const { llmsText } = await import('../docs/build/llms-text.ts')
  const outlines = await buildSite(path.join(distDir, 'docs'))
  await writeFile(path.join(distDir, 'llms.txt'), llmsText(outlines, '/docs/'))
}

/** Returns the modification time of the last file that a build writes, or 0 without a build. */
function lastBuiltMs(): number {
  return statSync(path.join(distDir, 'index.html.br'), { throwIfNoEntry: false })?.mtimeMs ?? 0
}

function newestModifiedMs(files: readonly string[]): number {
  return Math.max(...files.map((file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0))
}

async function loadVite(): Promise<typeof Vite | undefined> {
  try {
    return await import('vite')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND')
      return undefined
    throw error
  }
}

/** Writes a brotli and a gzip copy of each text file, so that requests need no compression. */
async function compress(): Promise<void> {
  const files = globSync('**/*.{js,css,svg,html,json,txt}', { cwd: distDir })
  // index.html is last: its compressed copy marks the build as complete.
  files.sort((a, b) => Number(a === 'index.html') - Number(b === 'index.html'))
  for (const file of files) {
    const bytes = await readFile(path.join(distDir, file))
    await writeFile(path.join(distDir, `${file}.gz`), await promisify(gzip)(bytes))
    await writeFile(path.join(distDir, `${file}.br`), await promisify(brotliCompress)(bytes))
  }
}
