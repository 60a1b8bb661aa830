import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'

/** The kinds of files that the service reads. Other files of a checkout are not packed. */
const dataExtensions = new Set(['.bash', '.f16', '.fish', '.json', '.md', '.sql', '.wasm', '.zsh'])

const mainModule = 'src/cli/main.js'
const node22Module = 'deploy/package/node-22.js'

/** Compiles the service into `dist`, with the same folders as in `src`, and copies its data files. */
export function compileService(rootDir: string): void {
  const distDir = path.join(rootDir, 'dist')
  rmSync(distDir, { recursive: true, force: true })
  runCompiler(rootDir)
  const entries = new Set([mainModule])
  for (const file of globSync('**/*.js', { cwd: distDir }))
    editFile(path.join(distDir, file), (source) => {
      const { rewritten, modules } = rewriteModuleAddresses(source, file)
      for (const module of modules) entries.add(module)
      return rewritten
    })
  for (const entry of entries)
    editFile(path.join(distDir, entry), (source) => importOf(node22Module, entry) + source)
  for (const file of dataFiles(rootDir)) cpSync(path.join(rootDir, file), path.join(distDir, file))
}

/** Returns the files of `src` that the service reads, beside its modules. */
export function dataFiles(rootDir: string): readonly string[] {
  const files = globSync('src/**/[!.]*.*', { cwd: rootDir })
  return files.filter((file) => dataExtensions.has(path.extname(file)))
}

function runCompiler(rootDir: string): void {
  const manifest = createRequire(import.meta.url).resolve('typescript/package.json')
  const compiler = path.join(path.dirname(manifest), 'bin/tsc')
  const options = ['-p', 'tsconfig.package.json']
  execFileSync(process.execPath, [compiler, ...options], { cwd: rootDir, stdio: 'inherit' })
}

function editFile(file: string, edit: (content: string) => string): void {
  writeFileSync(file, edit(readFileSync(file, 'utf8')))
}

/**
 * Rewrites the addresses of threads and processes, such as `new URL('./thread.ts', import.meta.url)`,
 * which the compiler leaves unchanged. Returns the paths of these modules too.
 *
 * @param file the path of the compiled module
 */
export function rewriteModuleAddresses(source: string, file: string) {
  const modules: string[] = []
  const rewritten = source.replaceAll(
    /new URL\((['"])(\.{1,2}\/[^'"]+)\.ts\1, import\.meta\.url\)/gu,
    (_address, quote: string, module: string) => {
      modules.push(path.posix.join(path.posix.dirname(file), `${module}.js`))
      return `new URL(${quote}${module}.js${quote}, import.meta.url)`
    },
  )
  const remaining = /['"`]\.{1,2}\/[^'"`\n]+\.ts['"`]/u.exec(rewritten)?.[0]
  assert.equal(remaining, undefined, `${file} refers to the source file ${remaining}`)
  return { rewritten, modules }
}

/** Each thread and process first loads what its Node lacks. */
function importOf(module: string, importer: string): string {
  return `import '${path.posix.relative(path.posix.dirname(importer), module)}';\n`
}
