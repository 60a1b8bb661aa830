import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { keepFilesOnDisk } from '../support/packaging/keep-files-on-disk.ts'
import { environmentOfUser, installNode } from '../support/packaging/node-versions.ts'
import { waitForWelcome } from '../support/packaging/welcome.ts'
import { rootDir, testModelsFolder } from '../support/paths.ts'

/** Versions on which the service itself does not run. */
const nodeVersions = ['18.20.8', '20.19.0', '22.17.1']

let folder: string
/** An npm package, a clone before `npm ci` and a clone after it: as much of them as the entry uses. */
let packageFolder: string
let newClone: string
const nodeFolders = new Map<string, string>()
before(async () => {
  keepFilesOnDisk()
  folder = await mkdtemp(path.join(tmpdir(), 'facegate-old-node-'))
  for (const version of nodeVersions)
    nodeFolders.set(version, await installNode(path.join(folder, version), version))
  packageFolder = await copyEntry('package')
  newClone = await copyEntry('clone')
  await mkdir(path.join(newClone, 'src/cli'), { recursive: true })
  await copyFile(path.join(rootDir, 'src/cli/main.ts'), path.join(newClone, 'src/cli/main.ts'))
  await mkdir(testModelsFolder, { recursive: true })
  for (const version of nodeVersions) {
    await mkdir(dataFolderOf(version))
    await symlink(testModelsFolder, path.join(dataFolderOf(version), 'models'))
  }
})
after(() => rm(folder, { recursive: true, force: true }))

async function copyEntry(name: string): Promise<string> {
  const target = path.join(folder, name)
  await cp(path.join(rootDir, 'bin'), path.join(target, 'bin'), { recursive: true })
  await copyFile(path.join(rootDir, 'package.json'), path.join(target, 'package.json'))
  return target
}

/** Its models are those of all tests: other tests convert them in a new installation. */
const dataFolderOf = (version: string): string => path.join(folder, `data-${version}`)

/** Starts `facegate` of an installation on a version of Node. */
function start(installation: string, version: string, args: readonly string[]) {
  const program = path.join(installation, 'bin/facegate.js')
  const settings = { PORT: '0', DATA_DIR: dataFolderOf(version), LOG_LEVEL: 'warn' }
  const child = spawn('node', [program, ...args], {
    env: { ...environmentOfUser(nodeFolders.get(version)), ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { out: '', err: '' }
  child.stdout.on('data', (chunk: Buffer) => (output.out += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output.err += chunk.toString()))
  const ended = once(child, 'close').then(([code]: unknown[]) => ({ code, ...output }))
  return { child, ended }
}

for (const version of nodeVersions)
  for (const command of ['--help', 'serve']) {
    test(`${command} of the npm package on Node ${version} names the versions`, async () => {
      const err = `facegate: this is Node ${version}; facegate needs Node 22.18 or 24\n`
      const { ended } = start(packageFolder, version, [command])
      assert.deepEqual(await ended, { code: 1, out: '', err })
    })

    test(`${command} of a clone without packages on Node ${version} names npm ci`, async () => {
      const err = `facegate: this is Node ${version}; facegate needs Node 24: run npm ci\n`
      const { ended } = start(newClone, version, [command])
      assert.deepEqual(await ended, { code: 1, out: '', err })
    })
  }

for (const version of nodeVersions)
  test(`A clone runs on the Node that npm ci installed if it is called on ${version}`, async () => {
    const { code, out, err } = await start(rootDir, version, ['--help']).ended
    assert.deepEqual([code, err], [0, ''])
    assert.match(out, /serve +start the service/u)
    const { child, ended } = start(rootDir, version, ['serve'])
    const { url } = await waitForWelcome(child)
    assert.equal((await fetch(`${url}/healthz`)).status, 200)
    child.kill('SIGTERM')
    assert.equal((await ended).code, 0)
  })

/** What is different on a system without a library of ONNX Runtime. */
const otherSystems = {
  'an Intel Mac': {
    fake: `Object.defineProperty(process, 'platform', { value: 'darwin' })
      Object.defineProperty(process, 'arch', { value: 'x64' })`,
    err: /^facegate: ONNX Runtime has no library for Intel Macs; use a Mac with an ARM processor/u,
  },
  Alpine: {
    fake: `require('node:fs').readdirSync = () => ['ld-musl-x86_64.so.1']
      require('node:module').syncBuiltinESMExports()
      process.report.getReport = () => ({ header: {} })`,
    err: /^facegate: ONNX Runtime has no library for musl, as in Alpine; use a system with glibc/u,
  },
}

for (const [name, { fake, err }] of Object.entries(otherSystems))
  test(`serve on ${name} names the missing library`, async () => {
    const file = path.join(folder, 'system.cjs')
    await writeFile(file, fake)
    const program = path.join(newClone, 'bin/facegate.js')
    const env = { ...process.env, NODE_OPTIONS: `--require=${file}` }
    const { status, stderr } = spawnSync(process.execPath, [program, 'serve'], { env })
    assert.equal(status, 1)
    assert.match(stderr.toString(), err)
  })
