import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import {
  findCycles,
  importsOf,
  resolveImport,
  type ImportGraph,
} from './support/architecture/imports.ts'

/** Folder of src → what it may import. A name with `(types)` may be imported as a type only. */
const mayImport: Record<string, readonly string[]> = {
  lib: [],
  config: ['lib'],
  store: ['lib'],
  models: ['lib'],
  telemetry: ['lib'],
  vision: ['lib', 'models'],
  gallery: ['lib', 'store', 'vision (types)'],
  billing: ['lib', 'store'],
  gate: ['lib', 'store', 'billing'],
  webhooks: ['lib', 'store', 'gallery'],
  actions: ['lib', 'store (types)', 'gallery (types)', 'vision (types)', 'billing (types)'],
  http: ['lib', 'gate', 'actions'],
  compreface: ['lib', 'gate', 'actions', 'http', 'gallery (types)', 'store (types)'],
  console: [
    'lib',
    'gate',
    'actions',
    'store',
    'billing',
    'webhooks',
    'http',
    'gallery (types)',
    'models (types)',
  ],
  evaluation: ['lib', 'models', 'vision', 'gallery', 'actions'],
}

/** The folders that compose the others. They may import everything in src but what is listed. */
const composing: Record<string, readonly string[]> = {
  start: ['cli', 'evaluation', 'main'],
  cli: [],
  main: ['cli', 'evaluation'],
}

/** Package → the files or folders that may import it. */
const owners: Record<string, readonly string[]> = {
  'onnxruntime-node': ['src/vision/session.ts'],
  '@julusian/jpeg-turbo': ['src/vision/image/decode.ts'],
  sharp: ['src/vision/image/', 'src/evaluation/write-svg.ts', 'src/cli/picture/draw-faces.ts'],
  'node:sqlite': ['src/store/'],
  pg: ['src/store/'],
  // Other files import `src/store/database.ts`, which loads faster.
  kysely: ['src/store/sqlite/migrations/', 'src/store/postgres/migrations/'],
  fastify: ['src/http/server.ts'],
  pino: ['src/lib/log.ts'],
  'prom-client': ['src/http/metrics/metrics.ts'],
  '@opentelemetry/api': ['src/telemetry/'],
  'ipaddr.js': ['src/lib/setting.ts', 'src/webhooks/address-rules.ts'],
  'csv-parse/sync': ['src/evaluation/'],
}

/** Most files in one folder, its subfolders not counted. Migrations and generated code may be more. */
const filesMax = 15
const folderLevelsMax = 3

const sourceRoots = [
  'src',
  'web',
  'client',
  'eval',
  'bench',
  'soak',
  'fuzz',
  'docs/build',
  'deploy',
  'test',
]
const ignored = ['**/node_modules/**', '**/dist/**', '**/output/**']

function findFiles(pattern: string): string[] {
  const files = globSync(pattern, { exclude: ignored })
  return files.map((file) => file.split(path.sep).join('/')).toSorted()
}

function readSources(roots: readonly string[]): Map<string, string> {
  const files = roots.flatMap((root) => findFiles(`${root}/**/*.{ts,tsx}`))
  assert.ok(files.length > 3, 'the source files are found')
  return new Map(files.map((file) => [file, readFileSync(file, 'utf8')]))
}

/** The folder of src that a file belongs to; a file at the root of src counts as a folder. */
function areaOf(file: string): string {
  return (file.split('/')[1] ?? '').replace(/\.ts$/u, '')
}

/** Returns every rule that `source` at `file` breaks. */
function importViolations(file: string, source: string): string[] {
  const area = areaOf(file)
  const violations: string[] = []
  for (const { target, isTypeOnly } of importsOf(source)) {
    const allowedOwners = owners[target]
    if (allowedOwners && !isTypeOnly && !allowedOwners.some((owner) => file.startsWith(owner)))
      violations.push(`${file} imports ${target}, which only ${allowedOwners.join(', ')} may`)
    if (!target.startsWith('.')) continue
    const imported = resolveImport(file, target)
    if (!imported.startsWith('src/')) {
      if (!imported.startsWith('package.json')) violations.push(`${file} imports ${imported}`)
      continue
    }
    const other = areaOf(imported)
    if (other !== area && !isAllowed(area, other, isTypeOnly))
      violations.push(`${file} imports ${imported}`)
  }
  const withoutOptOut = source.replace(`process.env['ORT_DISABLE_TELEMETRY'] = '1'`, '')
  if (area !== 'main' && area !== 'cli' && /process\.env\b/u.test(withoutOptOut))
    violations.push(`${file} reads process.env`)
  return violations
}

function isAllowed(area: string, other: string, isTypeOnly: boolean): boolean {
  const forbidden = composing[area]
  if (forbidden) return !forbidden.includes(other)
  const allowed = mayImport[area] ?? []
  return allowed.includes(other) || (isTypeOnly && allowed.includes(`${other} (types)`))
}

test('Every file of src imports only what its folder may import', () => {
  const sources = readSources(['src'])
  const violations = [...sources]
    .filter(([file]) => !file.endsWith('.test.ts'))
    .flatMap(([file, source]) => importViolations(file, source))
  assert.deepEqual(violations, [])
})

test('A planted import that breaks the table is found', () => {
  const planted: readonly (readonly [file: string, source: string, count: number])[] = [
    ['src/actions/x.ts', `import { open } from '../store/database.ts'`, 1],
    ['src/actions/x.ts', `import { pool } from '../vision/workers/vision-pool.ts'`, 1],
    ['src/actions/x.ts', `import type { FaceResult } from '../vision/image-analysis.ts'`, 0],
    ['src/lib/x.ts', `import {\n  one,\n  two,\n} from '../store/tenancy/keys.ts'`, 1],
    ['src/config.ts', `import { limits } from './vision/workers/vision-pool-limits.ts'`, 1],
    ['src/store/x.ts', `import type { Config } from '../config.ts'`, 1],
    ['src/evaluation/x.ts', `import { table } from '../cli/output.ts'`, 1],
    ['src/cli/x.ts', `import { draw } from '../../eval/compare/plot.ts'`, 1],
    ['src/gate/x.ts', `import sharp from 'sharp'`, 1],
    ['src/http/x.ts', `const worker = await import('../vision/workers/worker.ts')`, 1],
    ['src/gate/x.ts', `const port = process.env['PORT']`, 1],
  ]
  for (const [file, source, count] of planted)
    assert.equal(importViolations(file, source).length, count, source)
})

/** The client is published without the rest, and for more than Node. */
function clientViolations(file: string, source: string): string[] {
  const isOwn = (target: string): boolean =>
    target.startsWith('.') && resolveImport(file, target).startsWith('client/src/')
  const isNode = (target: string): boolean =>
    target.startsWith('node:') && file.endsWith('/node.ts')
  return importsOf(source)
    .filter(({ target }) => !isOwn(target) && !isNode(target))
    .map(({ target }) => `${file} imports ${target}`)
}

test('The client imports only its own files, and Node in one file', () => {
  const sources = readSources(['client/src'])
  assert.deepEqual(
    [...sources].flatMap(([file, source]) => clientViolations(file, source)),
    [],
  )
  const readsFiles = `import { readFile } from 'node:fs/promises'`
  assert.equal(clientViolations('client/src/node.ts', readsFiles).length, 0)
  assert.equal(clientViolations('client/src/image/to-image-item.ts', readsFiles).length, 1)
  const fromService = `import type { Action } from '../../src/actions/action.ts'`
  assert.equal(clientViolations('client/src/options.ts', fromService).length, 1)
})

/** Imports of the browser console that take more than types from the service. It runs the camera component of the client. */
function webViolations(file: string, source: string): string[] {
  return importsOf(source)
    .filter(({ target }) => target.includes('/src/') && !target.includes('/client/src/liveness/'))
    .filter(
      ({ target, isTypeOnly }) => !isTypeOnly || !/\/src\/(?:console|actions)\//u.test(target),
    )
    .map(({ target }) => `${file} imports ${target}`)
}

test('The browser console imports types of the actions and of the console API, and the camera component', () => {
  const sources = readSources(['web'])
  assert.deepEqual(
    [...sources].flatMap(([file, source]) => webViolations(file, source)),
    [],
  )
  const imports = `{ x } from '../src/console/pages/call-log.ts'`
  assert.equal(webViolations('web/x.ts', `import ${imports}`).length, 1)
  assert.equal(webViolations('web/x.ts', `import type ${imports}`).length, 0)
  assert.equal(webViolations('web/x.ts', `import type { x } from '../src/gate/x.ts'`).length, 1)
})

test('Nothing that ships imports the research scripts, the benchmarks or the tests', () => {
  const sources = readSources(['src', 'web', 'client', 'docs/build', 'deploy'])
  const violations = [...sources].flatMap(([file, source]) =>
    importsOf(source)
      .filter(({ target }) => target.startsWith('.') && !file.endsWith('.test.ts'))
      .map(({ target }) => resolveImport(file, target))
      .filter((imported) => /^(?:eval|bench|soak|fuzz|test)\//u.test(imported))
      .map((imported) => `${file} imports ${imported}`),
  )
  assert.deepEqual(violations, [])
})

function graphOf(sources: ReadonlyMap<string, string>): ImportGraph {
  return new Map(
    [...sources].map(([file, source]) => [
      file,
      importsOf(source)
        .filter(({ target }) => target.startsWith('.'))
        .map(({ target }) => resolveImport(file, target)),
    ]),
  )
}

test('There is no import cycle, type imports included', () => {
  assert.deepEqual(findCycles(graphOf(readSources(sourceRoots))), [])
})

test('A planted import cycle is found', () => {
  const planted = new Map([
    ['src/a.ts', `import { b } from './b.ts'`],
    ['src/b.ts', `import type { C } from './c/c.ts'`],
    ['src/c/c.ts', `export * from '../a.ts'`],
    ['src/d.ts', `import { a } from './a.ts'`],
  ])
  assert.deepEqual(findCycles(graphOf(planted)), [['src/a.ts', 'src/b.ts', 'src/c/c.ts']])
})

/** Folders with too many files or too deep in src. */
function layoutViolations(files: readonly string[]): string[] {
  const folders = Map.groupBy(files, (file) => path.posix.dirname(file))
  const crowded = [...folders]
    .filter(([folder, { length }]) => length > filesMax && !folder.endsWith('/migrations'))
    .map(([folder, { length }]) => `${folder} has ${length} files, more than ${filesMax}`)
  const deep = [...folders.keys()]
    .filter((folder) => folder.startsWith('src/') && folder.split('/').length > folderLevelsMax + 1)
    .map((folder) => `${folder} is more than ${folderLevelsMax} levels below src`)
  const vague = [...folders.keys()]
    .filter((folder) => /\/(?:utils?|common|helpers?|types|core|shared)(?:\/|$)/u.test(folder))
    .map((folder) => `${folder} has a name that explains nothing`)
  return [...crowded, ...deep, ...vague]
}

test('No folder has more than 15 files, lies too deep or has a vague name', () => {
  const roots = ['src', 'web', 'client', 'docs', 'eval', 'bench', 'deploy', 'test']
  const files = roots.flatMap((root) => findFiles(`${root}/**/*.*`))
  assert.deepEqual(layoutViolations(files), [])
})

test('A planted crowded, deep or vague folder is found', () => {
  const crowded = Array.from({ length: filesMax + 1 }, (_, index) => `src/gate/file-${index}.ts`)
  assert.equal(layoutViolations(crowded).length, 1)
  assert.equal(layoutViolations(crowded.slice(1)).length, 0)
  assert.equal(layoutViolations(['src/a/b/c/file.ts']).length, 0)
  assert.equal(layoutViolations(['src/a/b/c/d/file.ts']).length, 1)
  assert.equal(layoutViolations(['src/utils/file.ts']).length, 1)
})

/** Names that may repeat: the properties of a React component, and one type for each platform. */
const repeatableTypes = new Set(['Props', 'Client', 'Image'])

/** Names that are declared as a type in more than one file. */
function repeatedTypes(sources: ReadonlyMap<string, string>): string[] {
  const declaration =
    /^(?:export )?(?:declare )?(?:abstract )?(?:type|interface|class) ([A-Z]\w*)/gmu
  const declared = [...sources].flatMap(([file, source]) =>
    [...source.matchAll(declaration)].map(([, name = '']) => ({ name, file })),
  )
  return [...Map.groupBy(declared, ({ name }) => name)]
    .filter(([name, places]) => places.length > 1 && !repeatableTypes.has(name))
    .map(([name, places]) => `${name}: ${places.map(({ file }) => file).join(', ')}`)
}

test('A type name has one meaning in the whole repository', () => {
  const sources = readSources(sourceRoots)
  // The generated contract repeats the names of the schemas.
  for (const file of ['client/src/contract.ts', 'client/contract/contract-source.ts'])
    sources.delete(file)
  assert.deepEqual(repeatedTypes(sources), [])
})

test('A planted type name with two meanings is found', () => {
  const planted = new Map([
    ['src/a.ts', 'export type Row = { a: 1 }'],
    ['src/b.ts', 'interface Row {}'],
  ])
  assert.deepEqual(repeatedTypes(planted), ['Row: src/a.ts, src/b.ts'])
})
