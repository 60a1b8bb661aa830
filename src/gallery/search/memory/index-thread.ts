/** The thread that owns the index: it answers requests one after the other, in their order. */
import assert from 'node:assert/strict'
import { parentPort, workerData } from 'node:worker_threads'
import { openSharedMemory } from '../scan/shared-memory.ts'
import { unpackChanges } from './index-change.ts'
import { openGalleryIndexes } from './gallery-indexes.ts'
import { openScanKernel } from '../scan/scan-kernel.ts'
import type {
  ResponseMessage,
  IndexResponses,
  RequestMessage,
  IndexRequest,
  SearchThreadData,
} from './thread-messages.ts'
import { openScanPool } from './scan-pool.ts'

const port = parentPort
assert.ok(port, 'this module is run as a thread')
const { memory, helperCount: assistants } = workerData as SearchThreadData
const arena = openSharedMemory(memory)
const galleries = openGalleryIndexes(arena, openScanPool(arena, openScanKernel(memory), assistants))

port.on('message', (asked: RequestMessage) => void reply(asked))

async function reply({ id, request }: RequestMessage): Promise<void> {
  let answered: ResponseMessage
  try {
    // Only a drop takes more than this turn; whatever else arrives meanwhile goes before its end.
    const value = handleRequest(request)
    answered = { id, value: value instanceof Promise ? await value : value }
  } catch (error) {
    answered = { id, error }
  }
  port?.postMessage(answered)
}

function handleRequest(
  request: IndexRequest,
): IndexResponses[keyof IndexResponses] | Promise<void> {
  const { kind, galleryId } = request
  if (kind === 'apply') return galleries.apply(galleryId, unpackChanges(request.packed))
  if (kind === 'search') {
    const candidates = galleries.search(galleryId, request.query)
    // A probe is a person's as much as a template is.
    request.query.probe.vector.fill(0)
    return candidates
  }
  return galleries.drop(galleryId)
}
