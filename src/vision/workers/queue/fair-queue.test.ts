import assert from 'node:assert/strict'
import { test } from 'node:test'

import * as fc from 'fast-check'

import { createFairQueue } from './fair-queue.ts'
import type { QueueEntry } from './fair-queue.ts'

type NumberedEntry = QueueEntry & { readonly nth: number }
type QueueStep = {
  readonly kind: 'offer' | 'take' | 'remove'
  readonly projectIndex: number
  readonly bytes: number
}

const projects = ['a', 'b', 'c', 'd']
const bounds = { countMax: 6, bytesMax: 100 }

const queueStep: fc.Arbitrary<QueueStep> = fc.record({
  kind: fc.constantFrom('offer', 'offer', 'take', 'remove'),
  projectIndex: fc.nat(projects.length - 1),
  bytes: fc.integer({ min: 0, max: 120 }),
})

/** Tracks the expected content of the queue and asserts that the rotation is fair. */
function createReferenceQueue() {
  const waiting: NumberedEntry[] = []
  /** "p q" → how often q was served since p began to wait for its next turn. */
  const served = new Map<string, number>()
  const resetCounts = (p: string) => projects.forEach((q) => served.delete(`${p} ${q}`))
  const isWaiting = (p: string) => waiting.some(({ projectId }) => projectId === p)

  function add(entry: NumberedEntry): void {
    if (!isWaiting(entry.projectId)) resetCounts(entry.projectId)
    waiting.push(entry)
  }

  function remove(entry: NumberedEntry): void {
    const index = waiting.indexOf(entry)
    assert.ok(index >= 0, 'only waiting entries can be removed')
    waiting.splice(index, 1)
  }

  function serve(entry: NumberedEntry): void {
    const q = entry.projectId
    const first = waiting.find(({ projectId }) => projectId === q)
    assert.equal(entry, first, 'within a project, entries are served in order')
    remove(entry)
    resetCounts(q)
    for (const p of projects.filter(isWaiting).filter((p) => p !== q)) {
      const times = (served.get(`${p} ${q}`) ?? 0) + 1
      assert.ok(times <= 1, `${q} was served ${times} times while ${p} waited for one turn`)
      served.set(`${p} ${q}`, times)
    }
  }

  return { waiting, add, remove, serve }
}

test('No project waits for two jobs of another, no bound is exceeded, no entry is lost', () => {
  fc.assert(
    fc.property(fc.array(queueStep, { maxLength: 80 }), (steps) => {
      const queue = createFairQueue<NumberedEntry>(bounds)
      const reference = createReferenceQueue()
      for (const [nth, { kind, projectIndex, bytes }] of steps.entries()) {
        const entry = { projectId: projects[projectIndex] ?? '', bytes, nth }
        if (kind === 'offer') {
          const { isAccepted, evicted } = queue.offer(entry)
          if (evicted) reference.remove(evicted)
          if (isAccepted) reference.add(entry)
        } else if (kind === 'take') {
          const taken = queue.take()
          assert.equal(taken === undefined, reference.waiting.length === 0)
          if (taken) reference.serve(taken)
        } else {
          const present = reference.waiting[projectIndex]
          assert.equal(queue.remove(present ?? entry), present !== undefined)
          if (present) reference.remove(present)
        }
        assert.equal(queue.count(), reference.waiting.length)
        assert.equal(
          queue.bytes(),
          reference.waiting.reduce((sum, waiting) => sum + waiting.bytes, 0),
        )
        assert.ok(queue.count() <= bounds.countMax && queue.bytes() <= bounds.bytesMax)
      }
    }),
    { numRuns: 2_000 },
  )
})

const entriesOf = (projectId: string, count: number, bytes = 1): NumberedEntry[] =>
  Array.from({ length: count }, (_, nth) => ({ projectId, bytes, nth }))

test('A project that fills the queue loses entries to others, down to an equal share', () => {
  const queue = createFairQueue<NumberedEntry>({ ...bounds, countMax: 5 })
  const many = entriesOf('a', 6)
  assert.deepEqual(
    many.map((entry) => queue.offer(entry).isAccepted),
    [true, true, true, true, true, false],
  )
  const offers = entriesOf('b', 3).map((entry) => queue.offer(entry))
  assert.deepEqual(
    offers.map(({ isAccepted, evicted }) => [isAccepted, evicted]),
    [
      [true, many[4]],
      [true, many[3]],
      [false, undefined],
    ],
  )
})

test('A project that fills the memory loses entries to others', () => {
  const queue = createFairQueue<NumberedEntry>(bounds)
  const [first, second] = entriesOf('a', 2, 50)
  assert.ok(first && second)
  queue.offer(first)
  queue.offer(second)
  assert.deepEqual(queue.offer({ projectId: 'b', bytes: 51, nth: 0 }), { isAccepted: false })
  assert.deepEqual(queue.offer({ projectId: 'b', bytes: 50, nth: 1 }), {
    isAccepted: true,
    evicted: second,
  })
})
