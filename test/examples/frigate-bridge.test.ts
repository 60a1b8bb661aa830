import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, test } from 'node:test'
import { connectAsync, type MqttClient } from 'mqtt'
import { installExamples } from '../support/facegate/install-examples.ts'
import { startFacegate, type TestFacegate } from '../support/facegate/test-facegate.ts'
import { spawnExample } from '../support/examples/spawn-example.ts'
import { drawDoorPictures, drawWall, type DoorPictures } from '../support/examples/door-pictures.ts'
import { startFrigateStub, type FrigateStub } from '../support/network/frigate-stub.ts'
import {
  mosquittoSkipReason,
  openBrokerProxy,
  startMosquitto,
  startRefusingBroker,
  type Broker,
  type BrokerProxy,
} from '../support/network/mosquitto.ts'
import { rootDir } from '../support/paths.ts'

const skip = mosquittoSkipReason
const reconnectCount = 1000

type Message = {
  readonly topic: string
  readonly content: Readonly<Record<string, unknown>>
  readonly isRetained: boolean
}

let facegate: TestFacegate
let frigate: FrigateStub
let mosquitto: Broker
let proxy: BrokerProxy
let observer: MqttClient
let bridge: ChildProcess
let folder: string
let pictures: DoorPictures
const messages: Message[] = []
/** What the bridge has printed. */
const lines: string[] = []
const waiting = new Set<() => void>()

before(async () => {
  if (skip) return
  ;[facegate, frigate, mosquitto] = await Promise.all([
    startFacegate(),
    startFrigateStub(['front_door', 'garden/gate']),
    startMosquitto(),
  ])
  pictures = await drawDoorPictures()
  const image = { bytes: pictures.mia, contentType: 'image/jpeg' }
  const person = { externalId: 'mia-1', displayName: 'Mia Ü', duplicateCheck: 'off' }
  const { body } = await facegate.run('svc.enroll', image, person)
  assert.equal(body.ok, true, JSON.stringify(body))
  observer = await connectAsync(mosquitto.url)
  observer.on('message', (topic, payload, { retain }) => {
    messages.push({ topic, content: JSON.parse(String(payload)), isRetained: retain })
    for (const check of waiting) check()
  })
  await observer.subscribeAsync(['facegate/#', 'homeassistant/event/#'])
  // A message that another program has retained before the bridge starts.
  frigate.setSnapshots('retained', pictures.door)
  await publish('retained', 'end', {}, true)
  proxy = await openBrokerProxy(mosquitto.url)
  await startBridge()
})
after(async () => {
  if (skip) return
  bridge?.kill('SIGTERM')
  await observer?.endAsync(true)
  await proxy?.[Symbol.asyncDispose]()
  await mosquitto?.[Symbol.asyncDispose]()
  await frigate?.[Symbol.asyncDispose]()
  await facegate?.[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

/** Starts the example and waits until it has announced both cameras. */
async function startBridge(): Promise<void> {
  folder = await mkdtemp(path.join(tmpdir(), 'facegate-frigate-'))
  await installExamples(folder)
  await symlink(path.join(rootDir, 'node_modules/mqtt'), path.join(folder, 'node_modules/mqtt'))
  bridge = spawnBridge(proxy.url)
  assert.ok(bridge.stdout)
  createInterface(bridge.stdout).on('line', (line) => {
    lines.push(line)
    for (const check of waiting) check()
  })
  const ended = once(bridge, 'exit').then(([code]) => assert.fail(`the bridge ended with ${code}`))
  await Promise.race([waitFor(({ topic }) => topic.startsWith('homeassistant/'), 2), ended])
  ended.catch(() => {})
}

function spawnBridge(brokerUrl: string, reconnectMs = '1'): ChildProcess {
  return spawnExample(path.join(folder, 'frigate'), 'bridge.mjs', {
    MQTT_URL: brokerUrl,
    MQTT_RECONNECT_MS: reconnectMs,
    FRIGATE_URL: `${frigate.url}/`,
    FRIGATE_RETRY_MS: '20',
    FACEGATE_URL: facegate.url,
    FACEGATE_KEY: facegate.key,
  })
}

/** Waits until `count` messages match, and returns all that do. */
async function waitFor(matches: (message: Message) => boolean, count = 1) {
  await waitUntil(() => messages.filter(matches).length >= count)
  return messages.filter(matches)
}

/** Waits for a message, or for a line of the bridge, after which the condition is met. */
async function waitUntil(isMet: () => boolean): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const check = () => isMet() && resolve()
  waiting.add(check)
  check()
  await promise
  waiting.delete(check)
}

/** Publishes a message as Frigate does. */
async function publish(id: string, type: 'new' | 'update' | 'end', fields = {}, retain = false) {
  const after = {
    id,
    camera: 'front_door',
    label: 'person',
    sub_label: null,
    false_positive: false,
    has_snapshot: true,
    ...fields,
  }
  const payload = JSON.stringify({ type, before: after, after })
  await observer.publishAsync('frigate/events', payload, { retain })
}

const resultsOf = (id: string) => messages.filter(({ content }) => content['eventId'] === id)
const hasResult = (id: string) => waitFor(({ content }) => content['eventId'] === id)

/** Publishes an event of an unknown person and waits for its result: earlier events are complete. */
async function completeUnknown(id: string): Promise<void> {
  frigate.setSnapshots(id, pictures.other)
  for (const type of ['new', 'update', 'update', 'end'] as const) await publish(id, type)
  await hasResult(id)
}

test('An event of an enrolled person has one result, also in Frigate', { skip }, async () => {
  const [first, second] = pictures.door
  // Frames without a usable face are removed: a wall, and bytes that are no picture.
  frigate.setSnapshots('known', [await drawWall(), first!, second!])
  for (const type of ['new', 'update', 'update'] as const) await publish('known', type)
  const [result] = await hasResult('known')
  assert.equal(result?.topic, 'facegate/front_door/person')
  const { similarity, subjectId, ...rest } = result.content
  assert.deepEqual(rest, {
    event_type: 'person',
    eventId: 'known',
    camera: 'front_door',
    name: 'Mia Ü',
    externalId: 'mia-1',
    ambiguous: false,
  })
  assert.ok(typeof similarity === 'number' && similarity > 0.8 && similarity <= 1)
  assert.ok(subjectId)
  for (const type of ['update', 'update', 'update', 'end', 'end'] as const)
    await publish('known', type)
  await completeUnknown('after-known')
  assert.equal(resultsOf('known').length, 1)
  assert.equal(frigate.readCounts.get('known'), 3, 'a completed event is not processed again')
  const labels = frigate.subLabels.filter(({ eventId }) => eventId === 'known')
  assert.deepEqual(labels, [
    { eventId: 'known', body: { subLabel: 'Mia Ü', subLabelScore: similarity } },
  ])
})

test('An unknown person is reported at the end of the event only', { skip }, async () => {
  frigate.setSnapshots('visitor', [...pictures.other.slice(0, 3), await drawWall()])
  for (const type of ['new', 'update', 'update', 'update', 'update'] as const)
    await publish('visitor', type)
  await completeUnknown('after-visitor')
  assert.deepEqual(resultsOf('visitor'), [])
  await publish('visitor', 'end', { camera: 'garden/gate' })
  const [result] = await hasResult('visitor')
  assert.equal(result?.topic, 'facegate/garden_gate/person')
  assert.deepEqual(result.content, {
    event_type: 'unknown',
    eventId: 'visitor',
    camera: 'garden/gate',
    name: 'unknown',
  })
  assert.ok(!frigate.subLabels.some(({ eventId }) => eventId === 'visitor'))
})

test(
  'Events without a face, of other objects or with a name have no result',
  { skip },
  async () => {
    for (const id of ['wall', 'car', 'named']) frigate.setSnapshots(id, pictures.door)
    frigate.setSnapshots('wall', [await drawWall()])
    for (const type of ['new', 'update', 'update', 'end'] as const) {
      await publish('wall', type)
      await publish('car', type, { label: 'car' })
      await publish('named', type, { sub_label: ['Mia', 0.9] })
    }
    await observer.publishAsync('frigate/events', 'not JSON')
    await observer.publishAsync('frigate/events', '{"type":"end","after":null}')
    await completeUnknown('after-wall')
    await waitUntil(() => lines.includes('wall no usable face'))
    for (const id of ['wall', 'car', 'named']) assert.deepEqual(resultsOf(id), [])
    assert.equal(frigate.readCounts.get('car'), undefined)
  },
)

test(
  'Home Assistant gets one event entity per camera, again after its restart',
  { skip },
  async () => {
    const isDiscovery = ({ topic }: Message) => topic.startsWith('homeassistant/')
    const before = messages.filter(isDiscovery).length
    await observer.publishAsync('homeassistant/status', 'online')
    const [first, second] = (await waitFor(isDiscovery, before + 2)).slice(before)
    assert.equal(first?.topic, 'homeassistant/event/facegate_front_door/config')
    assert.equal(second?.topic, 'homeassistant/event/facegate_garden_gate/config')
    assert.equal(second.content['state_topic'], 'facegate/garden_gate/person')
    assert.deepEqual(second.content['event_types'], ['person', 'unknown'])
  },
)

test('The frames of an event are identified without a snapshot that fails', { skip }, async () => {
  frigate.setSnapshots('cut', [Buffer.from('no picture'), pictures.door[0]!, Buffer.of(), null])
  for (const type of ['new', 'update', 'update', 'end'] as const) await publish('cut', type)
  await hasResult('cut')
  const names = resultsOf('cut').map(({ content }) => content['name'])
  assert.deepEqual(names, ['Mia Ü'])
})

test(
  'Cameras are announced when Frigate is ready later, and a new one with its first event',
  { skip },
  async () => {
    const isDiscovery = ({ topic }: Message) => topic.startsWith('homeassistant/')
    const before = messages.filter(isDiscovery).length
    const idOf = ({ topic }: Message) => topic.split('/')[2]
    const topics = () => messages.filter(isDiscovery).slice(before).map(idOf)
    frigate.setReady(false)
    await observer.publishAsync('homeassistant/status', 'online')
    const failure = 'the cameras of Frigate cannot be read, repeated: /api/config returned 503'
    await waitUntil(() => lines.filter((line) => line === failure).length >= 2)
    frigate.setSnapshots('cellar', pictures.door)
    for (const type of ['new', 'end'] as const) await publish('cellar', type, { camera: 'cellar' })
    await completeUnknown('after-cellar')
    assert.deepEqual(topics(), ['facegate_cellar', 'facegate_front_door'], 'with the first event')
    frigate.setReady(true)
    await waitFor(isDiscovery, before + 4)
    assert.deepEqual(topics().slice(2), ['facegate_front_door', 'facegate_garden_gate'])
  },
)

test('A refused connection is repeated, and a wait of 0 is invalid', { skip }, async () => {
  assert.deepEqual(await once(spawnBridge(proxy.url, '0'), 'exit'), [1, null])
  await using broker = await startRefusingBroker()
  const refused = spawnBridge(broker.url)
  const ended = once(refused, 'exit').then(([code]) => assert.fail(`the bridge ended with ${code}`))
  ended.catch(() => {})
  try {
    await Promise.race([broker.secondConnection, ended])
  } finally {
    refused.kill('SIGTERM')
  }
})

test(`${reconnectCount} reconnects replay nothing, and nothing is retained`, { skip }, async () => {
  const isResult = ({ content }: Message) => content['eventId'] !== undefined
  const results = messages.filter(isResult).length
  const reads = [...frigate.readCounts.values()].reduce((sum, count) => sum + count, 0)
  for (let count = 0; count < reconnectCount; count++) await proxy.reconnect()
  await completeUnknown('after-reconnects')
  assert.equal(messages.filter(isResult).length, results + 1)
  const readsOfNew = frigate.readCounts.get('after-reconnects') ?? 0
  const readsAfter = [...frigate.readCounts.values()].reduce((sum, count) => sum + count, 0)
  assert.equal(readsAfter - readsOfNew, reads, 'no earlier event was processed again')
  assert.equal(frigate.readCounts.get('retained'), undefined)
  // The broker sends retained messages with the subscription, before the marker.
  const late = await connectAsync(mosquitto.url)
  const received: string[] = []
  const marker = new Promise<void>((resolve) => {
    late.on('message', (topic, _payload, { retain }) => {
      if (retain) received.push(topic)
      if (topic === 'marker') resolve()
    })
  })
  await late.subscribeAsync(['facegate/#', 'homeassistant/#', 'frigate/#', 'marker'])
  await late.publishAsync('marker', '')
  await marker
  await late.endAsync(true)
  assert.deepEqual(received, ['frigate/events'], 'only the message that the test has retained')
})
