import { globSync, statSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import type * as Vite from 'vite'

const webDir = import.meta.dirname
const distDir = path.join(webDir, 'dist')

if (import.meta.main) await buildConsole()

/**
 * Builds the console into `web/dist` when a source is newer than the build; else it does nothing.
 * Without the build tool (an install without development packages) it leaves what is there: the
 * service runs without its console and says so on the page.
 *
 * @returns what it did.
 */
export async function buildConsole(): Promise<'built' | 'fresh' | 'no build tool'> {
  if (newestModifiedMs(sourceFiles()) < lastBuiltMs()) return 'fresh'
  const vite = await loadVite()
  if (!vite) {
    if (lastBuiltMs() === 0)
      process.stderr.write('The console is not built: install the development packages first.\n')
    return 'no build tool'
  }
  await vite.build({
    configFile: path.join(webDir, 'vite.config.ts'),
    mode: 'production',
    logLevel: 'warn',
  })
  await compress()
  return 'built'
}

/** Whatever the build is made of. The lock file stands for the packages. */
function sourceFiles(): string[] {
  const own = globSync('**/*.{ts,tsx,css,html,svg,json}', {
    cwd: webDir,
    exclude: ['dist/**'],
  })
  return [...own, '../package-lock.json'].map((file) => path.join(webDir, file))
}

/** When the build was finished; 0 when there is none. The last file that a build writes tells. */
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

/** Each text beside its brotli and gzip form, so that no request compresses anything. */
async function compress(): Promise<void> {
  const texts = globSync('**/*.{js,css,svg,html}', { cwd: distDir })
  // The page comes last: its compressed form says that the build is whole.
  texts.sort((a, b) => Number(a === 'index.html') - Number(b === 'index.html'))
  for (const file of texts) {
    const bytes = await readFile(path.join(distDir, file))
    await writeFile(path.join(distDir, `${file}.gz`), await promisify(gzip)(bytes))
    await writeFile(path.join(distDir, `${file}.br`), await promisify(brotliCompress)(bytes))
  }
}
