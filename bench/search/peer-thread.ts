/** A thread for a peer, as a service would have to use it: its calls stop the loop they run in. */
import assert from 'node:assert/strict'
import { parentPort, workerData } from 'node:worker_threads'
import { faceAt, makeFaces, type Faces } from './faces.ts'
import { openPeer, type Find, type PeerName } from './peers.ts'

/** What the thread is started with: to make the faces, or to search them as a peer does. */
export type PeerStart = { readonly faces: Faces; readonly probes?: Faces; readonly peer?: PeerName }

/** Either a line of progress or an answer: the rows found, the time of each search. */
export type PeerMessage =
  | { readonly progress: string }
  | { readonly rows: readonly number[]; readonly timesMs: readonly number[] }
  | { readonly isMissing: true }

const port = parentPort
assert.ok(port, 'this module is run as a thread')
const { faces, probes, peer } = workerData as PeerStart
const say = (message: PeerMessage): void => port.postMessage(message)

if (peer && probes) {
  const find = open(peer)
  if (find) port.on('message', (wanted: readonly number[]) => say(race(find, probes, wanted)))
  say(find ? { rows: [], timesMs: [] } : { isMissing: true })
} else {
  makeFaces(faces)
  say({ rows: [], timesMs: [] })
}

function open(name: PeerName): Find | undefined {
  try {
    return openPeer(name, faces, (progress) => say({ progress }))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') return undefined
    throw error
  }
}

function race(find: Find, among: Faces, wanted: readonly number[]): PeerMessage {
  const rows: number[] = []
  const timesMs: number[] = []
  for (const at of wanted) {
    const face = faceAt(among, at)
    const startMs = performance.now()
    rows.push(find(face))
    timesMs.push(performance.now() - startMs)
  }
  return { rows, timesMs }
}
