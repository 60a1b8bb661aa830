/** The thread that owns the index: it answers requests one after the other, in their order. */
import assert from 'node:assert/strict'
import { parentPort, workerData } from 'node:worker_threads'
import { openArena } from './arena.ts'
import { unpack } from './change.ts'
import { openGalleries } from './galleries.ts'
import { openKernel } from './kernel.ts'
import type { Answered, Answers, Asked, Request, ThreadStart } from './message.ts'
import { openTeam } from './team.ts'

const port = parentPort
assert.ok(port, 'this module is run as a thread')
const { memory, assistants } = workerData as ThreadStart
const arena = openArena(memory)
const galleries = openGalleries(arena, openTeam(arena, openKernel(memory), assistants))

port.on('message', (asked: Asked) => void reply(asked))

async function reply({ id, request }: Asked): Promise<void> {
  let answered: Answered
  try {
    // Only a drop takes more than this turn; whatever else arrives meanwhile goes before its end.
    const value = answer(request)
    answered = { id, value: value instanceof Promise ? await value : value }
  } catch (error) {
    answered = { id, error }
  }
  port?.postMessage(answered)
}

function answer(request: Request): Answers[keyof Answers] | Promise<void> {
  const { kind, galleryId } = request
  if (kind === 'apply') return galleries.apply(galleryId, unpack(request.packed))
  if (kind === 'search') {
    const candidates = galleries.search(galleryId, request.question)
    // A probe is a person's as much as a template is.
    request.question.probe.vector.fill(0)
    return candidates
  }
  return galleries.drop(galleryId)
}
