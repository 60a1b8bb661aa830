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
const main = mainFile

/** Starts the service where it must refuse, and gives what it said. */
async function refusedStart(environment: Readonly<Record<string, string>>): Promise<string> {
  const child = spawn(process.execPath, [main], {
    env: { ...process.env, PORT: '0', ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  for await (const chunk of child.stderr) said += String(chunk)
  assert.notEqual(child.exitCode, 0)
  return said
}

test('the first start prints address, key and a command that works as printed', async () => {
  await using facegate = await spawnFacegate()
  assert.match(facegate.stdout(), /http:\/\/127\.0\.0\.1:\d+\/setup#[\w-]{43}$/mu)
  const command = /^ {2}printf [\s\S]*?--data-binary @-$/mu.exec(facegate.stdout())?.[0]
  assert.ok(command, facegate.stdout())
  const { stdout } = await run('sh', ['-c', command])
  const answer = JSON.parse(stdout)
  assert.equal(answer.ok, true)
  assert.equal(answer.data.results[0].value.faceCount, 3)
})

test('a start that fails makes no key that nobody sees', async () => {
  const dataDir = await createDataDir()
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  assert.match(await refusedStart({ PORT: String(port), DATA_DIR: dataDir }), /EADDRINUSE/u)
  other.close()
  await using facegate = await spawnFacegate({}, { dataDir })
  assert.match(facegate.stdout(), /fsk_live_/u)
  assert.equal((await facegate.run('svc.detect', await samplePhotograph(3))).body.ok, true)
})

test('a later start prints the address alone, and the key still works', async () => {
  const dataDir = await createDataDir()
  const first = await spawnFacegate({}, { dataDir })
  const { key } = first
  await first[Symbol.asyncDispose]()
  await using second = await spawnFacegate({}, { dataDir, key })
  assert.equal(second.stdout().trim().split('\n').length, 1)
  const answer = await second.run('svc.detect', await samplePhotograph(3))
  assert.equal(answer.body.data.results[0].value.faceCount, 3)
  await rm(dataDir, { recursive: true })
})

test('the key stands nowhere in the data folder', async () => {
  await using facegate = await spawnFacegate()
  for (const file of await readdir(facegate.dataDir)) {
    if (file === 'models') continue
    const bytes = await readFile(path.join(facegate.dataDir, file))
    for (let at = 0; at + 12 <= facegate.key.length; at++) {
      if (at < 'fsk_live_'.length) continue
      assert.ok(
        !bytes.includes(facegate.key.slice(at, at + 12)),
        `${file} holds a piece of the key`,
      )
    }
  }
})

test('a wrong configuration refuses the start and names the variable', async () => {
  assert.match(await refusedStart({ PORT: 'eighty' }), /cannot start.*PORT/u)
})

test('damaged models are named and made again; a start never runs on them', async () => {
  const dataDir = await createDataDir()
  const shared = path.join(dataDir, 'models')
  const own = path.join(dataDir, 'own')
  const facegate = await spawnFacegate({}, { dataDir })
  await facegate[Symbol.asyncDispose]()
  await cp(shared, own, { recursive: true, dereference: true })
  await rm(shared)
  await cp(own, shared, { recursive: true })
  const first = (await readdir(shared)).find((file) => file.endsWith('.onnx')) ?? ''
  await truncate(path.join(shared, first), 1000)
  await using again = await spawnFacegate({}, { dataDir, key: facegate.key })
  assert.match(again.stdout(), new RegExp(`converted model .*${path.parse(first).name}`, 'u'))
  const answer = await again.run('svc.detect', await samplePhotograph(3))
  assert.equal(answer.body.ok, true)
})

test('SIGTERM lets a running call finish and ends with exit code 0', async () => {
  await using facegate = await spawnFacegate()
  const running = facegate.run('svc.detect', await samplePhotograph(5))
  await new Promise((resolve) => setTimeout(resolve, 20))
  facegate.process.kill('SIGTERM')
  assert.equal((await running).body.ok, true)
  const code = await new Promise((resolve) => facegate.process.once('exit', resolve))
  assert.equal(code, 0)
})

test('a server that is told to end says so and goes on taking calls, then ends', async () => {
  await using facegate = await spawnFacegate({ SHUTDOWN_DELAY_MS: '1500' })
  const readiness = async () => (await fetch(`${facegate.url}/readyz`)).status
  assert.equal(await readiness(), 200)
  const ended = once(facegate.process, 'exit')
  facegate.process.kill('SIGTERM')
  while ((await readiness()) === 200) await sleep(10)
  const answer = await facegate.run('svc.detect', await samplePhotograph(3))
  assert.equal(answer.body.data.results[0].value.faceCount, 3)
  assert.deepEqual(await ended, [0, null])
})
