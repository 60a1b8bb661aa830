// Identifies the people that Frigate tracks, and reports them to Frigate and Home Assistant.
//   FACEGATE_KEY=fsk_live_... node bridge.mjs
import { createClient } from 'facegate-client'
import mqtt from 'mqtt'
import { createAnnouncements } from './announcements.mjs'
import { createFrigate } from './frigate.mjs'
import { identifyFrames } from './identify-frames.mjs'
import { readEvent, resultOf, topicOf } from './messages.mjs'
import { readAddress, readMilliseconds, readText } from './settings.mjs'

const brokerUrl = readAddress('MQTT_URL', 'mqtt://127.0.0.1:1883', ['mqtt:', 'mqtts:'])
// The MQTT library takes 0 for "never", and the bridge would end when the connection is lost.
const reconnectPeriod = readMilliseconds('MQTT_RECONNECT_MS', '1000')
const frigateUrl = readAddress('FRIGATE_URL', 'http://127.0.0.1:5000', ['http:', 'https:'])
const retryMs = readMilliseconds('FRIGATE_RETRY_MS', '5000')
const baseUrl = readAddress('FACEGATE_URL', 'http://127.0.0.1:8080', ['http:', 'https:'])
const apiKey = readText('FACEGATE_KEY')
const group = readText('GROUP')
/** Frames of one call. */
const framesMax = 3
/** Calls for one event. Afterwards the frames at the end of the event are identified once more. */
const callsMax = 3
/** Remembered events; the oldest one is forgotten first. */
const eventsMax = 1000

const frigate = createFrigate(frigateUrl)
const facegate = createClient({ baseUrl, apiKey })
const search = { minQuality: 20, ...(group && { groups: [group] }) }
/** `{ frames, added, calls, unmatched, isDone, queue }` by event id. An event has one result. */
const events = new Map()

const connection = {
  username: readText('MQTT_USERNAME'),
  // A password can begin or end with a space.
  password: process.env.MQTT_PASSWORD || undefined,
  // A clean session: the broker keeps no messages for the bridge while it is not connected.
  clean: true,
  reconnectPeriod,
  // A broker that has just started can refuse the connection.
  reconnectOnConnackError: true,
}
const broker = mqtt.connect(brokerUrl, connection)
broker.on('error', (error) => console.log(`MQTT: ${error.message}`))
const cameras = createAnnouncements({ broker, frigate, retryMs })
broker.on('connect', () => void cameras.announceAll())
broker.on('message', (topic, payload, { retain }) => {
  // Home Assistant lost the entities with its restart.
  if (topic === 'homeassistant/status' && String(payload) === 'online') void cameras.announceAll()
  const event = topic === 'frigate/events' && !retain && readEvent(payload)
  if (event) enqueue(event)
})
broker.subscribe(['frigate/events', 'homeassistant/status'])

/** The messages of one event are processed one after the other. */
function enqueue(event) {
  cameras.announceOnce(event.camera)
  const state = events.get(event.id) ?? { frames: [], added: 0, calls: 0, queue: undefined }
  events.set(event.id, state)
  if (events.size > eventsMax) events.delete(events.keys().next().value)
  state.queue = Promise.resolve(state.queue)
    .then(() => processEvent(event, state))
    .catch((error) => console.log(event.id, error.code ?? error.message))
    .then(() => event.isEnded && Object.assign(state, { isDone: true, frames: [] }))
}

async function processEvent(event, state) {
  if (state.isDone) return
  await addFrame(event, state)
  const isReady = state.added === framesMax && state.calls < callsMax
  if (!isReady && !event.isEnded) return
  state.added = 0
  state.calls++
  const value = (await identifyFrames(facegate, search, state)) ?? state.unmatched
  // A person without a match is unknown at the end only: a later frame can be better.
  state.unmatched = value
  if (!value?.bestMatch && !event.isEnded) return
  Object.assign(state, { isDone: true, frames: [] })
  if (value) await report(event, resultOf(event, value))
  else console.log(event.id, 'no usable face')
}

async function addFrame({ id }, state) {
  const snapshot = await frigate.readSnapshot(id)
  if (!snapshot) return
  state.frames = [...state.frames, snapshot].slice(-framesMax)
  state.added++
}

async function report({ id, camera }, result) {
  broker.publish(topicOf(camera), JSON.stringify(result), { retain: false })
  console.log(id, camera, result.name, result.similarity ?? '')
  if (result.event_type === 'person') await frigate.setSubLabel(id, result)
}
