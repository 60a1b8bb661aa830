/** A thread for a peer, as a service would have to use it: its calls stop the loop they run in. */
import assert from 'node:assert/strict'
import { parentPort, workerData } from 'node:worker_threads'
import { templateAt, fillTemplates, type TemplateMatrix } from './random-templates.ts'
import { openPeer, type FindNearest, type PeerName } from './peers.ts'

/** What the thread is started with: to make the faces, or to search them as a peer does. */
export type PeerThreadInput = {
  readonly faces: TemplateMatrix
  readonly probes?: TemplateMatrix
  readonly peer?: PeerName
}

/** Either a line of progress or an answer: the rows found, the time of each search. */
export type PeerThreadMessage =
  | { readonly progress: string }
  | { readonly rows: readonly number[]; readonly timesMs: readonly number[] }
  | { readonly isMissing: true }

const port = parentPort
assert.ok(port, 'this module is run as a thread')
const { faces, probes, peer } = workerData as PeerThreadInput
const send = (message: PeerThreadMessage): void => port.postMessage(message)

if (peer && probes) {
  const find = open(peer)
  if (find) port.on('message', (wanted: readonly number[]) => send(runProbes(find, probes, wanted)))
  send(find ? { rows: [], timesMs: [] } : { isMissing: true })
} else {
  fillTemplates(faces)
  send({ rows: [], timesMs: [] })
}

function open(name: PeerName): FindNearest | undefined {
  try {
    return openPeer(name, faces, (progress) => send({ progress }))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') return undefined
    throw error
  }
}

function runProbes(
  find: FindNearest,
  among: TemplateMatrix,
  wanted: readonly number[],
): PeerThreadMessage {
  const rows: number[] = []
  const timesMs: number[] = []
  for (const at of wanted) {
    const face = templateAt(among, at)
    const startMs = performance.now()
    rows.push(find(face))
    timesMs.push(performance.now() - startMs)
  }
  return { rows, timesMs }
}
