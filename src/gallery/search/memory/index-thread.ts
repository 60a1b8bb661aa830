/** The index thread: it holds all galleries and processes requests in order. */
import assert from 'node:assert/strict'
import { parentPort, workerData } from 'node:worker_threads'
import { unreachable } from '../../../lib/validation/unreachable.ts'
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
} from './search-threads.ts'
import { openScanPool } from './scan-pool.ts'

const port = parentPort
assert.ok(port, 'this module must run as a worker thread')
const { memory, helperCount } = workerData as SearchThreadData
const sharedMemory = openSharedMemory(memory)
const scanPool = openScanPool(sharedMemory, openScanKernel(memory), helperCount)
const galleries = openGalleryIndexes(sharedMemory, scanPool)

port.on('message', (message: RequestMessage) => void respond(message))

async function respond({ id, request }: RequestMessage): Promise<void> {
  let response: ResponseMessage
  try {
    // Only a drop is asynchronous. Requests that arrive meanwhile are processed before it ends.
    const value = handleRequest(request)
    response = { id, value: value instanceof Promise ? await value : value }
  } catch (error) {
    response = { id, error }
  }
  port?.postMessage(response)
}

function handleRequest(
  request: IndexRequest,
): IndexResponses[keyof IndexResponses] | Promise<void> {
  const { kind, galleryId } = request
  switch (kind) {
    case 'apply':
      return galleries.apply(galleryId, unpackChanges(request.packed))
    case 'load':
      return galleries.load(galleryId, request.packed, request.load)
    case 'search': {
      const candidates = galleries.search(galleryId, request.query)
      // A probe is biometric data like a template, so it is zeroed.
      request.query.probe.vector.fill(0)
      return candidates
    }
    case 'drop':
      return galleries.drop(galleryId)
    default:
      return unreachable(request)
  }
}
