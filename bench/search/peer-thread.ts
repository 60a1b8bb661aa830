/** Runs a peer in a thread, as a service would, because its calls block the event loop. */
import assert from 'node:assert/strict'
import { parentPort, workerData } from 'node:worker_threads'
import { templateAt, fillTemplates, type TemplateMatrix } from './random-templates.ts'
import { openPeer, openStreamedPeer, type FindNearest, type PeerName } from './peers.ts'

/** Start options: create the faces, or search them with a peer. */
export type PeerThreadInput = {
  /** Omitted: the peer creates this many faces in the form that it searches. */
  readonly faces?: TemplateMatrix
  readonly streamed?: number
  readonly probes?: TemplateMatrix
  readonly peer?: PeerName
}

/** A progress line, or a result with the rows found and the time of each search. */
export type PeerThreadMessage =
  | { readonly progress: string }
  | { readonly rows: readonly number[]; readonly timesMs: readonly number[] }
  | { readonly isMissing: true }

const port = parentPort
assert.ok(port, 'this module is run as a thread')
const { faces, streamed, probes, peer } = workerData as PeerThreadInput
const send = (message: PeerThreadMessage): void => port.postMessage(message)

if (peer && probes) {
  const find = open(peer)
  if (find)
    port.on('message', (indexes: readonly number[]) => send(runProbes(find, probes, indexes)))
  send(find ? { rows: [], timesMs: [] } : { isMissing: true })
} else if (faces) {
  fillTemplates(faces)
  send({ rows: [], timesMs: [] })
}

function open(name: PeerName): FindNearest | undefined {
  try {
    const report = (progress: string): void => send({ progress })
    return faces ? openPeer(name, faces, report) : openStreamedPeer(streamed ?? 0, report)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') return undefined
    throw error
  }
}

function runProbes(
  find: FindNearest,
  matrix: TemplateMatrix,
  indexes: readonly number[],
): PeerThreadMessage {
  const rows: number[] = []
  const timesMs: number[] = []
  for (const index of indexes) {
    const face = templateAt(matrix, index)
    const startMs = performance.now()
    rows.push(find(face))
    timesMs.push(performance.now() - startMs)
  }
  return { rows, timesMs }
}
