import assert from 'node:assert/strict'
import { test } from 'node:test'

import * as fc from 'fast-check'

import { createFairQueue } from './fair-queue.ts'
import type { QueueEntry } from './fair-queue.ts'

type NumberedEntry = QueueEntry & { readonly nth: number }
type QueueStep = { readonly kind: 'offer' | 'take' | 'remove'; readonly who: number; bytes: number }

const projects = ['a', 'b', 'c', 'd']
const bounds = { countMax: 6, bytesMax: 100 }

const step: fc.Arbitrary<QueueStep> = fc.record({
  kind: fc.constantFrom('offer', 'offer', 'take', 'remove'),
  who: fc.nat(projects.length - 1),
  bytes: fc.integer({ min: 0, max: 120 }),
})

/** What the queue should hold, and whom it has served while somebody waited. */
function createReferenceQueue() {
  const waiting: NumberedEntry[] = []
  /** "p q" → how often q was served since p has been waiting for its next turn. */
  const served = new Map<string, number>()
  const forget = (p: string) => projects.forEach((q) => served.delete(`${p} ${q}`))
  const waits = (p: string) => waiting.some(({ projectId }) => projectId === p)

  function join(entry: NumberedEntry): void {
    if (!waits(entry.projectId)) forget(entry.projectId)
    waiting.push(entry)
  }

  function leave(entry: NumberedEntry): void {
    const place = waiting.indexOf(entry)
    assert.ok(place >= 0, 'only what waits can leave')
    waiting.splice(place, 1)
  }

  function serve(entry: NumberedEntry): void {
    const q = entry.projectId
    const first = waiting.find(({ projectId }) => projectId === q)
    assert.equal(entry, first, 'within a project the first comes first')
    leave(entry)
    forget(q)
    for (const p of projects.filter(waits).filter((p) => p !== q)) {
      const times = (served.get(`${p} ${q}`) ?? 0) + 1
      assert.ok(times <= 1, `${q} was served ${times} times while ${p} waited for one turn`)
      served.set(`${p} ${q}`, times)
    }
  }

  return { waiting, join, leave, serve }
}

test('no project waits for two jobs of another, no bound is passed, nothing is lost', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const queue = createFairQueue<NumberedEntry>(bounds)
      const witness = createReferenceQueue()
      for (const [nth, { kind, who, bytes }] of steps.entries()) {
        const entry = { projectId: projects[who] ?? '', bytes, nth }
        if (kind === 'offer') {
          const { isIn, displaced } = queue.offer(entry)
          if (displaced) witness.leave(displaced)
          if (isIn) witness.join(entry)
        } else if (kind === 'take') {
          const taken = queue.take()
          assert.equal(taken === undefined, witness.waiting.length === 0)
          if (taken) witness.serve(taken)
        } else {
          const present = witness.waiting[who]
          assert.equal(queue.remove(present ?? entry), present !== undefined)
          if (present) witness.leave(present)
        }
        assert.equal(queue.count(), witness.waiting.length)
        assert.equal(
          queue.bytes(),
          witness.waiting.reduce((sum, waiting) => sum + waiting.bytes, 0),
        )
        assert.ok(queue.count() <= bounds.countMax && queue.bytes() <= bounds.bytesMax)
      }
    }),
    { numRuns: 2_000 },
  )
})

const entriesOf = (projectId: string, count: number, bytes = 1): NumberedEntry[] =>
  Array.from({ length: count }, (_, nth) => ({ projectId, bytes, nth }))

test('a project that fills the queue makes room for others, up to an equal share', () => {
  const queue = createFairQueue<NumberedEntry>({ ...bounds, countMax: 5 })
  const many = entriesOf('a', 6)
  assert.deepEqual(
    many.map((entry) => queue.offer(entry).isIn),
    [true, true, true, true, true, false],
  )
  const offers = entriesOf('b', 3).map((entry) => queue.offer(entry))
  assert.deepEqual(
    offers.map(({ isIn, displaced }) => [isIn, displaced]),
    [
      [true, many[4]],
      [true, many[3]],
      [false, undefined],
    ],
  )
})

test('a project that fills the memory makes room for others', () => {
  const queue = createFairQueue<NumberedEntry>(bounds)
  const [first, second] = entriesOf('a', 2, 50)
  assert.ok(first && second)
  queue.offer(first)
  queue.offer(second)
  assert.deepEqual(queue.offer({ projectId: 'b', bytes: 51, nth: 0 }), { isIn: false })
  assert.deepEqual(queue.offer({ projectId: 'b', bytes: 50, nth: 1 }), {
    isIn: true,
    displaced: second,
  })
})
