import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chown, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../support/network/free-port.ts'
import {
  createTestClient,
  samplePhotograph,
  type TestClient,
} from '../support/facegate/test-facegate.ts'
import {
  composeSkipReason,
  endProcess,
  startCompose,
  type RunningCompose,
} from '../support/packaging/compose.ts'
import {
  runInContainer,
  startContainer,
  type ContainerOptions,
} from '../support/packaging/container.ts'
import { buildImage, imageSkipReason, type BuiltImage } from '../support/packaging/image.ts'
import { keepFilesOnDisk } from '../support/packaging/keep-files-on-disk.ts'
import { runTool } from '../support/packaging/tools.ts'
import { waitForWelcome } from '../support/packaging/welcome.ts'
import { rootDir } from '../support/paths.ts'

const applicationBytesMax = 220_000_000
const callsInFlight = 10
/** A request for the metrics returns values that are at most this old. */
const metricsIntervalMs = 300

const skip = imageSkipReason ?? false
/** The tests use one image and one installation in the order in which they are written. */
let folder: string
let image: BuiltImage
let options: ContainerOptions
let server: ChildProcess
let client: TestClient
before(async () => {
  if (skip) return
  keepFilesOnDisk()
  folder = await mkdtemp(path.join(tmpdir(), 'facegate-container-'))
  image = await buildImage(await extractCheckout())
  const environment = { PORT: String(await freePort()), VISION_WORKERS: '1' }
  options = { environment, dataFolder: await createDataFolder('data') }
})
after(async () => {
  if (server) await endProcess(server)
  await image?.[Symbol.asyncDispose]()
  if (folder) await rm(folder, { recursive: true, force: true })
})

/** Extracts the files under version control. */
async function extractCheckout(): Promise<string> {
  const context = path.join(folder, 'context')
  await mkdir(context)
  const command = 'git ls-files -z | tar -c --null --ignore-failed-read -T - | tar -x -C "$1"'
  await runTool('sh', ['-ec', command, 'sh', context], { cwd: rootDir })
  return context
}

/** Creates a folder that belongs to the user of the image. */
async function createDataFolder(name: string): Promise<string> {
  const dataFolder = path.join(folder, name)
  await mkdir(dataFolder, { mode: 0o700 })
  const [uid = 0, gid = 0] = image.config.User.split(':').map(Number)
  await chown(dataFolder, uid, gid)
  return dataFolder
}

function runHealthCheck(): Promise<unknown> {
  const [, ...command] = image.config.Healthcheck.Test
  return runInContainer(image, options, command)
}

test('The image has the size and the settings of its Dockerfile', { skip }, async (t) => {
  const { stdout } = await runTool('du', ['--summarize', '--bytes', path.join(image.root, 'app')])
  const bytes = Number.parseInt(stdout, 10)
  t.diagnostic(`${Math.round(bytes / 1e6)} MB in addition to the base`)
  assert.ok(bytes <= applicationBytesMax, `${bytes} bytes`)
  const { config } = image
  assert.equal(config.User, '1000:1000')
  assert.equal(config.Healthcheck.Test[0], 'CMD')
  assert.deepEqual(Object.keys(config.Volumes), ['/data'])
})

test(
  'The first start on a read-only root prints a call that works outside',
  { skip },
  async (t) => {
    const startMs = performance.now()
    server = startContainer(image, options)
    const welcome = await waitForWelcome(server)
    t.diagnostic(`listens ${Math.round(performance.now() - startMs)} ms after the first start`)
    const { stdout } = await runTool('sh', ['-c', welcome.command])
    assert.match(stdout, /"faceCount":3/u)
    t.diagnostic(`a detected face after ${Math.round(performance.now() - startMs)} ms`)
    client = createTestClient(welcome.url, welcome.key)
    assert.match(await (await fetch(welcome.url)).text(), /<script/u)
    assert.match(await (await fetch(`${welcome.url}/docs`)).text(), /<nav id="contents"/u)
    await runHealthCheck()
  },
)

test(
  'Processes in the image have no rights and write to /data and /tmp only',
  { skip },
  async () => {
    const run = (command: string) => runInContainer(image, options, ['sh', '-ec', command])
    const { stdout } = await run('id -u; grep CapEff /proc/self/status; touch /data/a /tmp/a')
    assert.match(stdout, /^1000\nCapEff:\s+0+\n$/u)
    for (const place of ['/app', '/usr', '/home/node', '/var/tmp'])
      await assert.rejects(run(`touch ${place}/file`), /Read-only file system|Permission denied/u)
    await assert.rejects(run('touch /home/node/file'), /Read-only file system/u)
  },
)

test('SIGTERM lets the calls in flight finish', { skip }, async () => {
  const photograph = await samplePhotograph(1)
  let answered = 0
  const calls = Array.from({ length: callsInFlight }, async () => {
    const response = await client.run('svc.analyze', photograph, {
      features: ['attributes', 'liveness'],
    })
    answered++
    return response
  })
  for (;;) {
    await sleep(metricsIntervalMs)
    const answeredBefore = answered
    const waiting = await readWaitingCalls()
    assert.ok(answered < callsInFlight, 'calls are in flight')
    if (answeredBefore + waiting === callsInFlight) break
  }
  server.kill('SIGTERM')
  const [code] = (await once(server, 'exit')) as [number | null]
  assert.equal(code, 0)
  for (const { status, body } of await Promise.all(calls)) {
    assert.equal(status, 200)
    assert.equal(body.ok, true)
  }
  await assert.rejects(runHealthCheck(), 'the health check fails after the end')
})

/** Returns the number of calls whose image waits for a worker or is analyzed. */
async function readWaitingCalls(): Promise<number> {
  const metrics = await (await fetch(`${client.url}/metrics`)).text()
  const valueOf = (name: string) =>
    Number(new RegExp(`^${name}(?:\\{.*\\})? (\\d+)$`, 'mu').exec(metrics)?.[1])
  return valueOf('facegate_vision_queue_depth') + valueOf('facegate_vision_workers_busy')
}

/** The services of deploy/compose.yaml as processes of this machine. */
let compose: RunningCompose | undefined
after(() => compose?.[Symbol.asyncDispose]())
const composeOptions = { skip: skip || (composeSkipReason ?? false) }

test(
  'The services of compose.yaml share one database behind the proxy',
  composeOptions,
  async () => {
    compose = await startCompose(image, { folder, createDataFolder })
    const { key, servers, proxyUrl } = compose
    const proxy = createTestClient(proxyUrl, key)
    const photograph = await samplePhotograph(1)
    // The proxy sends a call to the server with the fewest connections.
    const calls = Array.from({ length: callsInFlight }, () => proxy.run('svc.detect', photograph))
    for (const { body } of await Promise.all(calls)) assert.equal(body.ok, true)
    for (const { url } of servers) {
      const metrics = await (await fetch(`${url}/metrics`)).text()
      assert.match(metrics, /facegate_calls_total\{action="svc\.detect",.*\} [1-9]/u, url)
    }
    assert.equal((await fetch(`${proxyUrl}/metrics`)).status, 404)
  },
)

test('The admin service runs a command of the image', composeOptions, async () => {
  assert.ok(compose)
  const { stdout } = await compose.runAdmin(['facegate', 'project', 'list'])
  assert.match(stdout, /default/u)
  const link = await compose.runAdmin(['facegate', 'console', 'link'])
  assert.match(link.stdout, /http:\/\/localhost\/setup#/u, 'the address of the proxy')
})

test('A server of compose.yaml that stops loses no call', composeOptions, async () => {
  assert.ok(compose)
  const { key, servers, proxyUrl } = compose
  const [first] = servers
  assert.ok(first)
  const proxy = createTestClient(proxyUrl, key)
  const photograph = await samplePhotograph(1)
  const exited = once(first.process, 'exit')
  first.process.kill('SIGTERM')
  while (first.process.exitCode === null && first.process.signalCode === null) {
    const { status, body } = await proxy.run('svc.detect', photograph)
    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual(body.errors, [])
  }
  assert.deepEqual(await exited, [0, null])
})
