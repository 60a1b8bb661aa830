import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import sharp, { type Sharp } from 'sharp'
import { build } from 'vite'
import { contractSource } from '../../client/contract/contract-source.ts'
import {
  samplePhotograph,
  startFacegate,
  type TestFacegate,
} from '../support/facegate/test-facegate.ts'
import { rootDir } from '../support/paths.ts'

const root = rootDir
const packageFolder = path.join(root, 'client')
const tools = path.join(root, 'node_modules', '.bin')
const environment = { ...process.env, PATH: `${tools}${path.delimiter}${process.env['PATH']}` }

/** The folder of a separate project with the installed package. */
let consumer: string
let installed: string
let archive: string
let facegate: TestFacegate

before(async () => {
  consumer = await mkdtemp(path.join(tmpdir(), 'facegate-consumer-'))
  installed = path.join(consumer, 'node_modules', 'facegate-client')
  await writeFile(path.join(consumer, 'package.json'), '{"type":"module"}')
  const readme = await readFile(path.join(packageFolder, 'README.md'), 'utf8')
  const [install = ''] = blocksOf(readme, 'sh')
  assert.ok((await readFile(path.join(root, 'README.md'), 'utf8')).includes(install))
  Object.assign(environment, { PROJECT: consumer, npm_config_offline: 'true' })
  await shell(install, root)
  archive = path.join(consumer, 'facegate-client-0.1.0.tgz')
  facegate = await startFacegate({ VISION_WORKERS: '1' })
  await writeImages()
})
after(async () => {
  await facegate?.[Symbol.asyncDispose]()
  await rm(consumer, { recursive: true, force: true })
})

test('contract.ts matches the schemas of the service', async () => {
  const text = await readFile(path.join(packageFolder, 'src', 'contract.ts'), 'utf8')
  assert.ok(
    text === contractSource(),
    'client/src/contract.ts is out of date: run `npm run contract`',
  )
})

test('Every code block of the README compiles and runs', async () => {
  const readme = await readFile(path.join(packageFolder, 'README.md'), 'utf8')
  const blocks = blocksOf(readme, 'ts')
  assert.ok(blocks.length >= 10)
  assert.equal(readme.split('```').length - 1, 2 * (blocks.length + 1), 'no code block is skipped')
  await writeFile(path.join(consumer, 'readme.ts'), blocks.join('\n'))
  await symlink(
    path.join(root, 'node_modules', '@types'),
    path.join(consumer, 'node_modules/@types'),
  )
  await compile('readme.ts', '--types', 'node', '--lib', 'esnext', '--module', 'nodenext')
  const { stdout } = await run(process.execPath, ['readme.ts'], {
    FACEGATE_URL: facegate.url,
    FACEGATE_KEY: facegate.key,
  })
  for (const pattern of [
    /badge-1042 (1|0\.\d+)/u,
    /true (1|0\.\d+)/u,
    /auto-1 NO_FACE_FOUND/u,
    /one person at a time/u,
    /1 would be deleted/u,
    /GET \/v1\/subjects succeeded 1 \d+ [0-9a-f-]{36}/u,
  ])
    assert.match(stdout, pattern)
})

test('The types do not depend on zod, on Node or on the source of the service', async () => {
  await writeFile(
    path.join(consumer, 'page.ts'),
    `import { createClient, type Face, type Subject } from 'facegate-client'
const facegate = createClient({ baseUrl: location.origin, apiKey: 'k' })
export const face = async (file: File): Promise<Face> => (await facegate.enroll(file)).face
export const all = (): AsyncIterable<Subject> => facegate.subjects.list()
// @ts-expect-error a browser cannot read a path
export const none = () => facegate.detect('photo.jpg')
`,
  )
  await compile('page.ts', '--types', '', '--lib', 'es2022,dom', '--module', 'preserve')
  const dist = path.join(installed, 'dist')
  const files = globSync('{esm,cjs}/**/*.d.ts', { cwd: dist })
  assert.ok(files.length > 6, 'the declaration files are found')
  for (const file of files)
    for (const [, target = ''] of (await readFile(path.join(dist, file), 'utf8')).matchAll(
      /from '([^']+)'/gu,
    )) {
      assert.match(target, /^\.{1,2}\/[\w/-]+\.ts$/u, file)
      const imported = path.join(path.dirname(file), target)
      assert.ok(!imported.startsWith('..'), `${file} imports ${target}`)
    }
})

test('A CommonJS module with types calls the service, and both kinds of modules have the same exports', async () => {
  const program = `import { createClient, FacegateError, type Client } from 'facegate-client'
import node = require('facegate-client/node')
const [baseUrl = '', apiKey = ''] = process.argv.slice(2)
const facegate: Client = createClient({ baseUrl, apiKey })
const same: boolean = node.createClient === createClient && node.FacegateError === FacegateError
void facegate.detect('mia.jpg').then(({ faceCount }) => console.log(faceCount, same))
`
  await writeFile(path.join(consumer, 'program.cts'), program)
  await writeFile(
    path.join(consumer, 'liveness.cts'),
    `import liveness = require('facegate-client/liveness')
export const check: typeof liveness.FacegateLiveness = liveness.FacegateLiveness
`,
  )
  const options = ['--types', 'node', '--lib', 'es2022,dom', '--module', 'node16']
  await compile('program.cts', 'liveness.cts', ...options)
  const emit = ['tsc', '--ignoreConfig', '--target', 'es2022', '--skipLibCheck', ...options]
  await shell([...emit, '"program.cts"'].join(' '), consumer)
  const { stdout } = await run(process.execPath, ['program.cjs', facegate.url, facegate.key])
  assert.equal(stdout.trim(), '1 true')
  const compare = `import { createRequire } from 'node:module'
const require = createRequire(import.meta.url)
for (const entry of ['', '/node', '/liveness']) {
  const imported = Object.keys(await import('facegate-client' + entry)).filter((name) => name !== 'module.exports')
  console.log(imported.join() === Object.keys(require('facegate-client' + entry)).toSorted().join())
}`
  await writeFile(path.join(consumer, 'compare.mjs'), compare)
  const compared = await run(process.execPath, ['compare.mjs'])
  assert.equal(compared.stdout, 'true\ntrue\ntrue\n')
})

test('A bundler for browsers selects the entry without Node', async () => {
  const page = `import { createClient } from 'facegate-client'
import 'facegate-client/liveness'
console.log(createClient)`
  const entry = path.join(consumer, 'bundled.js')
  await writeFile(entry, page)
  const built = await build({
    root: consumer,
    configFile: false,
    logLevel: 'silent',
    build: { write: false, minify: false, rollupOptions: { input: entry } },
  })
  const outputs = [built].flat().flatMap((result) => ('output' in result ? result.output : []))
  const code = outputs.map((file) => ('code' in file ? file.code : '')).join('')
  assert.match(code, /x-api-key/u)
  assert.match(code, /customElements\.define/u, 'the component, which exports nothing to this page')
  assert.doesNotMatch(code, /node:fs|__vite-browser-external|require\(/u)
})

test('The web entry runs without Node', async () => {
  const { stdout } = await run(process.execPath, [
    '--experimental-vm-modules',
    '--no-warnings',
    path.join(import.meta.dirname, 'edge-runtime.ts'),
    path.join(installed, 'dist', 'esm'),
    facegate.url,
    facegate.key,
    path.join(consumer, 'mia.jpg'),
  ])
  assert.equal(stdout.trim(), '1')
})

for (const [tool, ...options] of [
  ['publint', '--strict'],
  ['attw', '--profile', 'node16'],
] as const)
  test(`${tool} reports no problem in the package`, async (t) => {
    if (!existsSync(path.join(tools, tool))) return t.skip(`${tool} is not installed`)
    await shell([tool, ...options, `"${archive}"`].join(' '), consumer)
  })

/** Writes the images of the README: a group, one person twice, and a wall without a face. */
async function writeImages(): Promise<void> {
  const { bytes } = await samplePhotograph(6)
  const save = (name: string, image: Sharp) => image.jpeg().toFile(path.join(consumer, name))
  await save('group.jpg', sharp(bytes))
  const portrait = { left: 1380, top: 190, width: 448, height: 504 }
  await save('mia.jpg', sharp(bytes).extract(portrait))
  await save('door.jpg', sharp(bytes).extract(portrait).modulate({ brightness: 0.9 }))
  const grey = { width: 300, height: 300, channels: 3, background: '#888' } as const
  await save('wall.jpg', sharp({ create: grey }))
}

function blocksOf(markdown: string, language: string): string[] {
  const pattern = new RegExp(`\`\`\`${language}(?: [^\\n]*)?\\n([\\s\\S]*?)\`\`\``, 'gu')
  return [...markdown.matchAll(pattern)].map(([, block = '']) => block)
}

/** @throws Error with the output of the compiler. */
async function compile(...options: readonly string[]): Promise<void> {
  const flags = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--skipLibCheck', 'false']
  await shell(['tsc', '--ignoreConfig', ...flags, ...quoted(options)].join(' '), consumer)
}

const quoted = (texts: readonly string[]): string[] => texts.map((text) => `"${text}"`)

async function shell(command: string, cwd: string): Promise<void> {
  await promisify(execFile)('sh', ['-c', command], { cwd, env: environment }).catch(fail)
}

function run(file: string, args: readonly string[], more: Readonly<Record<string, string>> = {}) {
  return promisify(execFile)(file, args, { cwd: consumer, env: { ...environment, ...more } }).catch(
    fail,
  )
}

function fail(error: Error & { readonly stdout?: string; readonly stderr?: string }): never {
  throw new Error(`${error.message}\n${error.stdout}\n${error.stderr}`, { cause: error })
}
