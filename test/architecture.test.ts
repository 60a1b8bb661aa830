import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'

/** Folder of src → what it may import. A name with `(types)` may be imported as a type only. */
const allowedImports: Record<string, readonly string[]> = {
  lib: [],
  store: ['lib'],
  models: ['lib'],
  vision: ['lib', 'models'],
  gallery: ['lib', 'store', 'vision (types)'],
  billing: ['lib', 'store'],
  gate: ['lib', 'store', 'billing'],
  evaluation: ['lib', 'models', 'vision', 'gallery', 'actions'],
  actions: ['lib', 'store (types)', 'gallery (types)', 'vision (types)', 'billing (types)'],
  http: ['lib', 'gate', 'actions'],
  compreface: ['lib', 'gate', 'actions', 'http', 'gallery (types)', 'store (types)'],
  telemetry: ['lib'],
  console: ['lib', 'gate', 'actions', 'store', 'billing', 'http', 'gallery (types)'],
}

/** Package → the files and folders that may import it. */
const packageOwners: Record<string, string | readonly string[]> = {
  'onnxruntime-node': 'src/vision/session.ts',
  sharp: ['src/vision/image/', 'src/evaluation/write-svg.ts'],
  'node:sqlite': 'src/store/',
  kysely: 'src/store/',
  fastify: 'src/http/server.ts',
  pino: 'src/lib/log.ts',
  'prom-client': 'src/http/metrics/metrics.ts',
  '@opentelemetry/api': 'src/telemetry/',
}

/** The roots: they put the house together and may import anything. */
const isRoot = (file: string): boolean =>
  /^src\/(main|config|services|books|memory|models-in-use|desk|figures|watch)(\.test)?\.ts$/u.test(
    file,
  ) || file.startsWith('src/cli/')

type Import = { readonly target: string; readonly typeOnly: boolean }

function importsOf(source: string): Import[] {
  const pattern =
    /(?:^|\n)\s*(import|export)\s+(type\s)?[^'"\n;]*?(?:\n[^'"\n]*?)*?from\s+['"]([^'"]+)['"]|import\s*\(?\s*['"]([^'"]+)['"]/gu
  return [...source.matchAll(pattern)].map((match) => ({
    target: match[3] ?? match[4] ?? '',
    typeOnly: match[2] !== undefined,
  }))
}

/** Every rule that `source`, standing at `file`, breaks. */
function violations(file: string, source: string): string[] {
  const folder = file.split('/')[1] ?? ''
  const broken: string[] = []
  for (const { target, typeOnly } of importsOf(source)) {
    const owners = [packageOwners[target] ?? []].flat()
    if (owners.length > 0 && !typeOnly && !owners.some((owner) => file.startsWith(owner)))
      broken.push(`${file} imports ${target}, which ${owners.join(' and ')} own`)
    if (!target.startsWith('.') || isRoot(file)) continue
    const place = path.posix.join(path.posix.dirname(file), target)
    const other = place.split('/')[1] ?? ''
    if (other === folder) continue
    const allowed = allowedImports[folder] ?? []
    const isFine = allowed.includes(other) || (typeOnly && allowed.includes(`${other} (types)`))
    if (!isFine && place !== 'src/config.ts') broken.push(`${file} imports ${place}`)
    if (place === 'src/config.ts' && !typeOnly)
      broken.push(`${file} imports the configuration as a value`)
  }
  const reading = source.replace(`process.env['ORT_DISABLE_TELEMETRY'] = '1'`, '')
  if (file !== 'src/main.ts' && !file.startsWith('src/cli/') && /process\.env\b/u.test(reading))
    broken.push(`${file} reads process.env`)
  return broken
}

test('every file imports only what its folder may', () => {
  const files = globSync('src/**/*.ts').map((file) => file.split(path.sep).join('/'))
  assert.ok(files.length > 3, 'the source files are found')
  const broken = files.flatMap((file) => violations(file, readFileSync(file, 'utf8')))
  assert.deepEqual(broken, [])
})

/** What the client may not import: it is published without the rest, and for more than Node. */
function clientViolations(file: string, source: string): string[] {
  const isOwn = (target: string): boolean => /^\.\/[\w-]+\.ts$/u.test(target)
  const isNode = (target: string): boolean =>
    target.startsWith('node:') && file.endsWith('/node.ts')
  return importsOf(source)
    .filter(({ target }) => !isOwn(target) && !isNode(target))
    .map(({ target }) => `${file} imports ${target}`)
}

test('the client imports nothing but itself, and Node in one file only', () => {
  const files = globSync('client/src/*.ts').map((file) => file.split(path.sep).join('/'))
  assert.ok(files.length > 3, 'the source files are found')
  const broken = files.flatMap((file) => clientViolations(file, readFileSync(file, 'utf8')))
  assert.deepEqual(broken, [])
  const reading = `import { readFile } from 'node:fs/promises'`
  assert.equal(clientViolations('client/src/node.ts', reading).length, 0)
  assert.equal(clientViolations('client/src/image/to-image-item.ts', reading).length, 1)
  const served = `import type { Action } from '../../src/actions/action.ts'`
  assert.equal(clientViolations('client/src/image/to-image-item.ts', served).length, 1)
})

/** Every import by which the console in the browser would take more than types of the service. */
function serviceImports(file: string, source: string): string[] {
  return importsOf(source)
    .filter(({ target }) => target.includes('/src/'))
    .filter(({ target, typeOnly }) => !typeOnly || !/\/src\/(?:console|actions)\//u.test(target))
    .map(({ target }) => `${file} imports ${target}`)
}

test('the console in the browser takes types of actions and console, and nothing else', () => {
  const files = globSync('web/**/*.{ts,tsx}', { exclude: ['web/dist/**'] })
  assert.ok(files.length > 3, 'the source files are found')
  const broken = files.flatMap((file) => serviceImports(file, readFileSync(file, 'utf8')))
  assert.deepEqual(broken, [])
  assert.equal(
    serviceImports('web/x.ts', `import { x } from '../src/console/pages/log.ts'`).length,
    1,
  )
  assert.equal(serviceImports('web/x.ts', `import type { x } from '../src/gate/x.ts'`).length, 1)
})

test('a planted import is found', () => {
  assert.equal(
    violations('src/actions/x.ts', `import { open } from '../store/database.ts'`).length,
    1,
  )
  assert.equal(
    violations('src/actions/x.ts', `import { see } from '../vision/workers/pool.ts'`).length,
    1,
  )
  assert.equal(
    violations('src/actions/x.ts', `import type { View } from '../vision/view.ts'`).length,
    0,
  )
  assert.equal(
    violations('src/lib/x.ts', `import {\n  one,\n  two,\n} from '../store/keys.ts'`).length,
    1,
  )
  assert.equal(violations('src/gate/x.ts', `import sharp from 'sharp'`).length, 1)
  assert.equal(
    violations('src/http/x.ts', `const worker = await import('../vision/workers/worker.ts')`)
      .length,
    1,
  )
  assert.equal(violations('src/gate/x.ts', `const port = process.env['PORT']`).length, 1)
})
