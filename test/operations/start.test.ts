import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { cp, readdir, readFile, rm, truncate } from 'node:fs/promises'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import path from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { createDataDir, samplePhotograph } from '../support/facegate/test-facegate.ts'
import { spawnFacegate } from '../support/facegate/spawn-facegate.ts'
import { mainFile } from '../support/paths.ts'

const run = promisify(execFile)

/** Starts the service with settings that must fail. @returns its error output. */
async function failedStart(environment: Readonly<Record<string, string>>): Promise<string> {
  const child = spawn(process.execPath, [mainFile], {
    env: { ...process.env, PORT: '0', ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let errorOutput = ''
  for await (const chunk of child.stderr) errorOutput += String(chunk)
  assert.notEqual(child.exitCode, 0)
  return errorOutput
}

test('The first start prints the address, a key and a working example command', async () => {
  await using facegate = await spawnFacegate()
  assert.match(facegate.stdout(), /http:\/\/127\.0\.0\.1:\d+\/setup#[\w-]{43}$/mu)
  const command = /^ {2}printf [\s\S]*?--data-binary @-$/mu.exec(facegate.stdout())?.[0]
  assert.ok(command, facegate.stdout())
  const { stdout } = await run('sh', ['-c', command])
  const body = JSON.parse(stdout)
  assert.equal(body.ok, true)
  assert.equal(body.data.results[0].value.faceCount, 3)
})

test('A failed start creates no key, so the next start prints one', async () => {
  const dataDir = await createDataDir()
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  assert.match(await failedStart({ PORT: String(port), DATA_DIR: dataDir }), /EADDRINUSE/u)
  other.close()
  await using facegate = await spawnFacegate({}, { dataDir })
  assert.match(facegate.stdout(), /fsk_live_/u)
  assert.equal((await facegate.run('svc.detect', await samplePhotograph(3))).body.ok, true)
})

test('A later start prints only the address, and the key still works', async () => {
  const dataDir = await createDataDir()
  const first = await spawnFacegate({}, { dataDir })
  const { key } = first
  await first[Symbol.asyncDispose]()
  await using second = await spawnFacegate({}, { dataDir, key })
  assert.equal(second.stdout().trim().split('\n').length, 1)
  const response = await second.run('svc.detect', await samplePhotograph(3))
  assert.equal(response.body.data.results[0].value.faceCount, 3)
  await rm(dataDir, { recursive: true })
})

test('No file of the data folder contains a part of the key', async () => {
  await using facegate = await spawnFacegate()
  for (const file of await readdir(facegate.dataDir)) {
    if (file === 'models') continue
    const bytes = await readFile(path.join(facegate.dataDir, file))
    for (let start = 'fsk_live_'.length; start + 12 <= facegate.key.length; start++) {
      const part = facegate.key.slice(start, start + 12)
      assert.ok(!bytes.includes(part), `${file} contains a part of the key`)
    }
  }
})

test('An invalid setting prevents the start, and the error names the variable', async () => {
  assert.match(await failedStart({ PORT: 'eighty' }), /cannot start.*PORT/u)
})

test('A start converts damaged models again and names them', async () => {
  const dataDir = await createDataDir()
  const shared = path.join(dataDir, 'models')
  const copied = path.join(dataDir, 'copied')
  const facegate = await spawnFacegate({}, { dataDir })
  await facegate[Symbol.asyncDispose]()
  await cp(shared, copied, { recursive: true, dereference: true })
  await rm(shared)
  await cp(copied, shared, { recursive: true })
  const first = (await readdir(shared)).find((file) => file.endsWith('.onnx')) ?? ''
  await truncate(path.join(shared, first), 1000)
  await using second = await spawnFacegate({}, { dataDir, key: facegate.key })
  assert.match(second.stdout(), new RegExp(`converted model .*${path.parse(first).name}`, 'u'))
  const response = await second.run('svc.detect', await samplePhotograph(3))
  assert.equal(response.body.ok, true)
})

test('After SIGTERM a running call completes, and the exit code is 0', async () => {
  await using facegate = await spawnFacegate()
  const running = facegate.run('svc.detect', await samplePhotograph(5))
  await new Promise((resolve) => setTimeout(resolve, 20))
  facegate.process.kill('SIGTERM')
  assert.equal((await running).body.ok, true)
  const code = await new Promise((resolve) => facegate.process.once('exit', resolve))
  assert.equal(code, 0)
})

test('During the shutdown delay the server is not ready, but still serves calls', async () => {
  await using facegate = await spawnFacegate({ SHUTDOWN_DELAY_MS: '1500' })
  const readiness = async () => (await fetch(`${facegate.url}/readyz`)).status
  assert.equal(await readiness(), 200)
  const ended = once(facegate.process, 'exit')
  facegate.process.kill('SIGTERM')
  while ((await readiness()) === 200) await sleep(10)
  const response = await facegate.run('svc.detect', await samplePhotograph(3))
  assert.equal(response.body.data.results[0].value.faceCount, 3)
  assert.deepEqual(await ended, [0, null])
})
