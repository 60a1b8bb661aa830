import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmod,
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  rmdir,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { request, type IncomingMessage } from 'node:http'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { readConfig } from '../../src/config.ts'
import { createLog } from '../../src/lib/log.ts'
import { creditMessage } from '../../src/start/credit-message.ts'
import { runWithKeyFile } from '../support/cli/run-with-key-file.ts'
import { spawnFacegate, type FacegateProcess } from '../support/facegate/spawn-facegate.ts'
import {
  createDataDir,
  samplePhotograph,
  startFacegate,
} from '../support/facegate/test-facegate.ts'
import { cliMainFile, mainFile, rootDir, testModelsFolder } from '../support/paths.ts'

const run = promisify(execFile)

/** The tests use one installation in the order in which they are written: each start takes seconds. */
let dataDir: string
let firstStart: FacegateProcess
let secondStart: FacegateProcess
before(async () => {
  dataDir = await createDataDir()
})
after(async () => {
  for (const facegate of [firstStart, secondStart]) await facegate?.[Symbol.asyncDispose]()
  await rm(dataDir, { recursive: true })
})

/** Starts the service, which must fail, and returns its standard error. */
async function failedStart(environment: Readonly<Record<string, string>>): Promise<string> {
  const child = spawn(process.execPath, [mainFile], {
    env: { ...process.env, PORT: '0', ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let stderr = ''
  for await (const chunk of child.stderr) stderr += String(chunk)
  assert.notEqual(child.exitCode, 0)
  return stderr
}

test('the service does not start with an invalid configuration, and names the variable', async () => {
  for (const PORT of ['eighty', '65536'])
    assert.match(
      await failedStart({ PORT, DATA_DIR: dataDir }),
      /cannot start.*PORT: must be a whole number from 0 to 65535/u,
    )
})

test('a start names DATA_DIR and its rule if the folder cannot be created', async (t) => {
  const root = await createDataDir()
  t.after(() => rm(root, { recursive: true }))
  const file = path.join(root, 'file')
  await writeFile(file, '')
  const link = path.join(root, 'link')
  await symlink(path.join(root, 'none', 'data'), link)
  const rule = 'must be a folder that this user may write, on a file system that is not read-only'
  for (const folder of [file, path.join(file, 'data'), link])
    assert.match(
      await failedStart({ DATA_DIR: folder }),
      new RegExp(`cannot start: DATA_DIR=${folder} ${rule}; set another one`, 'u'),
    )
})

test('a start and a command refuse an empty database file and change nothing', async (t) => {
  const root = await createDataDir()
  t.after(() => rm(root, { recursive: true }))
  const key = `a ${Buffer.alloc(32).toString('base64')}\n`
  const files = { 'facegate.db': '', 'facegate.db-wal': 'the last commits', 'master.key': key }
  for (const [name, content] of Object.entries(files))
    await writeFile(path.join(root, name), content, { mode: 0o600 })
  const settings = { DATA_DIR: root, MODELS_DIR: mainFile }
  const refusal =
    /facegate\.db is empty: move it .* away, then restore a copy \(facegate restore\)/u
  assert.match(await failedStart(settings), refusal)
  const environment = { env: { ...process.env, ...settings } }
  await assert.rejects(
    run(process.execPath, [cliMainFile, 'project', 'list'], environment),
    refusal,
  )
  for (const [name, content] of Object.entries(files))
    assert.equal(await readFile(path.join(root, name), 'utf8'), content, name)
})

test('a start logs a master key beside the database, and folders that all users may write', async (t) => {
  const root = await createDataDir()
  t.after(() => rm(root, { recursive: true }))
  const [data, keys] = [path.join(root, 'data'), path.join(root, 'keys')]
  for (const folder of [data, keys]) await mkdir(folder, { mode: 0o700 })
  const logged = async (environment: Readonly<Record<string, string>>): Promise<string[]> => {
    // The start ends after the database, so that it prepares no models.
    const settings = { DATA_DIR: data, MODELS_DIR: mainFile, LOG_LEVEL: 'info' }
    const lines = (await failedStart({ ...settings, ...environment })).split('\n')
    return lines.filter((line) => /beside the database|others may replace/u.test(line))
  }
  const separate = { MASTER_KEY_FILE: path.join(keys, 'master.key') }

  const [beside = '', ...others] = await logged({})
  assert.deepEqual(others, [])
  const { level, masterKeyFile } = JSON.parse(beside)
  assert.deepEqual([level, masterKeyFile], ['info', path.join(data, 'master.key')])
  assert.deepEqual(await logged(separate), [])

  for (const [folder, mode, isReported] of [
    [data, 0o777, true],
    [data, 0o702, true],
    [data, 0o1777, false],
    [data, 0o770, false],
    [keys, 0o777, true],
  ] as const) {
    for (const each of [data, keys]) await chmod(each, each === folder ? mode : 0o700)
    const messages = (await logged(separate)).map((line) => JSON.parse(line).msg)
    const message = `others may replace the files of this folder: run chmod 700 ${folder}`
    assert.deepEqual(messages, isReported ? [message] : [], `${folder} ${mode.toString(8)}`)
  }
})

test('a failed start creates no API key: the next start prints a valid one', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  assert.match(
    await failedStart({ PORT: String(port), DATA_DIR: dataDir }),
    /HOST=127\.0\.0\.1 and PORT=\d+ cannot be used: .*EADDRINUSE.*; set another address/u,
  )
  other.close()
  firstStart = await spawnFacegate({}, { dataDir })
  assert.match(firstStart.stdout(), /fsk_live_/u)
  assert.equal((await firstStart.run('svc.detect', await samplePhotograph(3))).body.ok, true)
})

test('the first start prints the address, the key, a setup link and a command that works', async () => {
  assert.match(firstStart.stdout(), /http:\/\/127\.0\.0\.1:\d+\/setup#[\w-]{43}$/mu)
  const command = /^ {2}printf [\s\S]*?--data-binary @-$/mu.exec(firstStart.stdout())?.[0]
  assert.ok(command, firstStart.stdout())
  const { stdout } = await run('sh', ['-c', command])
  const envelope = JSON.parse(stdout)
  assert.equal(envelope.ok, true)
  assert.equal(envelope.data.results[0].value.faceCount, 3)
})

test('the printed commands use the data folder that is set', async () => {
  const printed = firstStart.stdout().match(/^ {2}\S.*npx facegate .*$/gmu) ?? []
  assert.equal(printed.length, 3, firstStart.stdout())
  const { DATA_DIR: _dataDir, ...environment } = process.env
  for (const command of printed) {
    const { stdout } = await run('sh', ['-c', command], { cwd: rootDir, env: environment })
    assert.match(stdout, /^(?:wallet|budget): .* USD |^name +default$/mu)
  }
})

test('the printed commands need no npx where the command is installed, as in the image', async () => {
  const installed = await mkdtemp(path.join(tmpdir(), 'facegate-path-'))
  const script = `#!/bin/sh\nexec '${process.execPath}' '${path.join(rootDir, 'bin/facegate.js')}' "$@"\n`
  await writeFile(path.join(installed, 'facegate'), script, { mode: 0o755 })
  const config = readConfig({ DATA_DIR: dataDir, DATABASE_URL: '' })
  const commandsOf = (PATH: string) =>
    creditMessage(config, PATH).match(/^ {2}\S.*facegate .*$/gmu) ?? []
  const PATH = `${installed}:/usr/bin:/bin`
  assert.equal(commandsOf(PATH).length, 3)
  for (const command of commandsOf(PATH)) {
    assert.doesNotMatch(command, /npx/u)
    const { DATA_DIR: _dataDir, ...environment } = process.env
    await run('sh', ['-c', command], { env: { ...environment, PATH } })
  }
  const ofNpm = path.join(installed, 'node_modules', '.bin')
  await mkdir(ofNpm, { recursive: true })
  await writeFile(path.join(ofNpm, 'facegate'), script, { mode: 0o755 })
  for (const command of commandsOf(ofNpm)) assert.match(command, /npx facegate/u)
  await rm(installed, { recursive: true })
})

test('no file of the data folder contains a part of the key', async () => {
  const { key } = firstStart
  for (const file of await readdir(dataDir)) {
    if (file === 'models') continue
    const bytes = await readFile(path.join(dataDir, file))
    for (let start = 'fsk_live_'.length; start + 12 <= key.length; start++)
      assert.ok(!bytes.includes(key.slice(start, start + 12)), `${file} contains a part of the key`)
  }
})

test('SIGTERM lets a running call finish and ends with exit code 0', async () => {
  const { bytes } = await samplePhotograph(5)
  const image = { kind: 'image', contentType: 'image/jpeg', bytes: bytes.toString('base64') }
  const running = request(`${firstStart.url}/v1/face/execute`, {
    method: 'POST',
    headers: {
      'x-api-key': firstStart.key,
      'content-type': 'application/json',
      expect: '100-continue',
    },
  })
  const responded = once(running, 'response')
  running.flushHeaders()
  // The server has received the call, and waits for its body.
  await once(running, 'continue')
  const ended = once(firstStart.process, 'exit')
  firstStart.process.kill('SIGTERM')
  running.end(JSON.stringify({ action: 'svc.detect', params: { images: [image] } }))
  const [response] = (await responded) as [IncomingMessage]
  assert.equal(JSON.parse(await text(response)).ok, true)
  assert.deepEqual(await ended, [0, null])
})

test('a later start prints only the address, and the key is still valid', async () => {
  const { key } = firstStart
  secondStart = await spawnFacegate({ SHUTDOWN_DELAY_MS: '10000' }, { dataDir, key })
  assert.equal(secondStart.stdout().trim().split('\n').length, 1)
  await assertDetects(secondStart)
})

test('a server that cannot read its master key is not ready', async () => {
  const file = path.join(dataDir, 'master.key')
  const readiness = async () => (await fetch(`${secondStart.url}/readyz`)).json()
  await chmod(file, 0o644)
  const notReady = {
    detail: 'the master key cannot be read, or its file lacks the current key of the database',
  }
  assert.deepEqual(await readiness(), notReady)
  await chmod(file, 0o600)
  assert.deepEqual(await readiness(), { ready: true })
  const copy = path.join(dataDir, 'copy.key')
  await copyFile(file, copy)
  await runWithKeyFile(dataDir, copy, 'rotate-master')
  assert.deepEqual(await readiness(), notReady)
  await rm(file)
  await mkdir(file)
  assert.deepEqual(await readiness(), notReady)
  await rmdir(file)
  await rename(copy, file)
  assert.deepEqual(await readiness(), { ready: true })
})

test('a server that shuts down reports it, accepts calls during the delay, then ends', async () => {
  const readiness = async () => (await fetch(`${secondStart.url}/readyz`)).status
  assert.equal(await readiness(), 200)
  const ended = once(secondStart.process, 'exit')
  secondStart.process.kill('SIGHUP')
  while ((await readiness()) === 200) await sleep(10)
  await assertDetects(secondStart)
  assert.deepEqual(await ended, [0, null])
})

test('a start converts a damaged model again and reports it', async () => {
  const models = path.join(dataDir, 'models')
  const files = await readdir(testModelsFolder)
  const damaged = files.find((file) => file.endsWith('.onnx')) ?? ''
  await rm(models)
  await mkdir(models)
  for (const file of files)
    if (file !== damaged) await symlink(path.join(testModelsFolder, file), path.join(models, file))
  const bytes = await readFile(path.join(testModelsFolder, damaged))
  await writeFile(path.join(models, damaged), bytes.subarray(0, 1000))
  await using facegate = await spawnFacegate({}, { dataDir, key: firstStart.key })
  const name = path.parse(damaged).name
  assert.match(facegate.stdout(), new RegExp(`converted model .*${name}`, 'u'))
  await assertDetects(facegate)
})

async function assertDetects(facegate: FacegateProcess): Promise<void> {
  const { body } = await facegate.run('svc.detect', await samplePhotograph(3))
  assert.equal(body.data.results[0].value.faceCount, 3)
}

test('a first start with a read-only folder of models logs no warning', async () => {
  const modelsFolder = path.join(dataDir, 'models-of-the-image')
  await mkdir(modelsFolder)
  for (const file of await readdir(testModelsFolder))
    if (file !== 'optimized')
      await symlink(path.join(testModelsFolder, file), path.join(modelsFolder, file))
  // Not even root can create a folder in /sys; the permissions of other folders do not apply to root.
  await symlink('/sys/kernel', path.join(modelsFolder, 'optimized'))
  const lines: string[] = []
  const log = createLog('info', { write: (line) => void lines.push(line) })
  const environment = { MODELS_DIR: modelsFolder, VISION_INT8: 'off', VISION_WORKERS: '1' }
  await using _facegate = await startFacegate(environment, log)
  for (const line of lines) assert.equal(JSON.parse(line).level, 'info', line)
})
