import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { createContext, SourceTextModule } from 'node:vm'

/**
 * Runs the web entry of the built client without the globals of Node, with only those of browsers and
 * edge runtimes. It prints the number of detected faces. Run it with `--experimental-vm-modules`.
 */
const [dist = '', baseUrl = '', apiKey = '', photograph = ''] = process.argv.slice(2)

const webGlobals = {
  fetch,
  URL,
  URLSearchParams,
  Headers,
  Blob,
  AbortController,
  crypto,
  performance,
  setTimeout,
  clearTimeout,
  atob,
  btoa,
}
const bytes = new Uint8Array(await readFile(photograph))
const context = createContext({ ...webGlobals, input: { baseUrl, apiKey, bytes } })
const modules = new Map<string, SourceTextModule>()

async function loadModule(file: string): Promise<SourceTextModule> {
  const existing = modules.get(file)
  if (existing) return existing
  const source = await readFile(path.join(dist, file), 'utf8')
  const loaded = new SourceTextModule(source, { context, identifier: file })
  modules.set(file, loaded)
  return loaded
}

/** Returns the path of an imported module. @throws Error if it is not a file of the built client. */
function resolveModule(target: string, importer: string): string {
  const file = path.posix.join(path.posix.dirname(importer), target)
  if (!/^\.{1,2}\//u.test(target) || !/^[\w-]+(?:\/[\w-]+)*\.js$/u.test(file))
    throw new Error(`a browser cannot import ${target}`)
  return file
}

const page = new SourceTextModule(
  `import { createClient } from './index.js'
   const { baseUrl, apiKey, bytes } = input
   input.faceCount = (await createClient({ baseUrl, apiKey }).detect(bytes)).faceCount`,
  { context, identifier: 'page.js' },
)
await page.link((target, importer) => loadModule(resolveModule(target, importer.identifier)))
await page.evaluate()
// The module above sets it.
const { faceCount } = context['input'] as { readonly faceCount: number }
process.stdout.write(`${faceCount}\n`)
