import assert from 'node:assert/strict'
import { test } from 'node:test'

import * as fc from 'fast-check'

import { FairQueue, type QueueOwner } from './fair-queue.ts'

type QueuedTestImage = { readonly bytes: number }
type QueuedTestCall = QueueOwner & { readonly images: readonly QueuedTestImage[] }
type QueueStep = {
  readonly kind: 'offer' | 'take' | 'remove'
  readonly projectIndex: number
  readonly imageBytes: readonly number[]
}

/** Each project with one letter has a separate account; `e1`, `e2` and `e3` are those of account e. */
const projects = ['a', 'b', 'e1', 'e2', 'e3']
const bounds = { countMax: 12, bytesMax: 100 }

const queueStep: fc.Arbitrary<QueueStep> = fc.record({
  kind: fc.constantFrom('offer', 'offer', 'take', 'take', 'remove'),
  projectIndex: fc.nat(projects.length - 1),
  // Small calls leave room for those of several projects.
  imageBytes: fc.oneof(
    fc.array(fc.nat(5), { minLength: 1, maxLength: 2 }),
    fc.array(fc.nat(30), { minLength: 1, maxLength: 10 }),
  ),
})

const accountOf = (projectId: string) => projectId.charAt(0)

function createCall(projectId: string, imageBytes: readonly number[]): QueuedTestCall {
  return {
    accountId: accountOf(projectId),
    projectId,
    images: imageBytes.map((bytes) => ({ bytes })),
  }
}

function batchOf(projectId: string, count: number, bytes = 1): QueuedTestCall {
  return createCall(projectId, Array<number>(count).fill(bytes))
}

type TestQueue = FairQueue<QueuedTestImage, QueuedTestCall>

/** Offers a call and submits all of its images. */
function offerAndSubmit(queue: TestQueue, call: QueuedTestCall) {
  const result = queue.offer(call)
  if (result.isAccepted) for (const image of call.images) queue.submit(call, image)
  return result
}

/** Tracks the expected content of the queue and asserts that the rotation is fair. */
function createReferenceQueue() {
  const waiting = new Map<QueuedTestCall, QueuedTestImage[]>()
  /**
   * "p q" → how often q was served since p began to wait for its next turn. p and q are two accounts
   * or two projects of one account.
   */
  const served = new Map<string, number>()
  const owners = [...new Set(projects.flatMap((project) => [project, accountOf(project)]))]
  const resetCounts = (p: string) => owners.forEach((q) => served.delete(`${p} ${q}`))
  const callsOf = (p: string) =>
    [...waiting.keys()].filter(
      ({ accountId, projectId }) => projectId === p || (p.length === 1 && accountId === p),
    )

  function add(call: QueuedTestCall): void {
    for (const p of new Set([call.accountId, call.projectId]))
      if (callsOf(p).length === 0) resetCounts(p)
    waiting.set(call, [...call.images])
  }

  function countTurn(q: string, rivals: readonly string[]): void {
    resetCounts(q)
    for (const p of rivals.filter((other) => other !== q && callsOf(other).length > 0)) {
      const times = (served.get(`${p} ${q}`) ?? 0) + 1
      assert.ok(times <= 1, `${q} was served ${times} times while ${p} waited for one turn`)
      served.set(`${p} ${q}`, times)
    }
  }

  function evict(call: QueuedTestCall): void {
    assert.deepEqual(waiting.get(call), call.images, 'only calls that have not begun are evicted')
    waiting.delete(call)
  }

  function serve(image: QueuedTestImage): void {
    const call = [...waiting.keys()].find(({ images }) => images.includes(image))
    assert.ok(call, 'only waiting images are taken')
    const q = call.projectId
    assert.equal(call, callsOf(q)[0], 'within a project, calls are served in order')
    const images = waiting.get(call) ?? []
    assert.equal(images.shift(), image, 'within a call, images are served in order')
    if (images.length === 0) waiting.delete(call)
    countTurn(accountOf(q), [...new Set(projects.map(accountOf))])
    if (accountOf(q) !== q)
      countTurn(
        q,
        projects.filter((p) => accountOf(p) === accountOf(q)),
      )
  }

  /** An owner that lost a call keeps at least the share of the owner that took its place. */
  function assertShares(call: QueuedTestCall, evicted: readonly QueuedTestCall[]): void {
    const shareOf = (p: string, added: readonly QueuedTestImage[] = []) => {
      const images = [...callsOf(p).flatMap((other) => waiting.get(other) ?? []), ...added]
      const bytes = images.reduce((sum, image) => sum + image.bytes, 0)
      return Math.max(images.length / bounds.countMax, bytes / bounds.bytesMax)
    }
    for (const { accountId, projectId } of evicted) {
      const isOwn = accountId === call.accountId
      const [victim, own] = isOwn ? [projectId, call.projectId] : [accountId, call.accountId]
      assert.ok(shareOf(victim) >= shareOf(own, call.images), `${victim} keeps less than ${own}`)
    }
  }

  return { waiting, add, evict, serve, assertShares }
}

test('Calls are accepted and evicted whole, no bound is exceeded, no account or project waits for two images', () => {
  fc.assert(
    fc.property(fc.array(queueStep, { maxLength: 80 }), (steps) => {
      const queue = new FairQueue<QueuedTestImage, QueuedTestCall>(bounds)
      const reference = createReferenceQueue()
      for (const { kind, projectIndex, imageBytes } of steps) {
        const call = createCall(projects[projectIndex] ?? '', imageBytes)
        if (kind === 'offer') {
          const { isAccepted, evicted } = offerAndSubmit(queue, call)
          for (const other of evicted) {
            assert.notEqual(other.projectId, call.projectId)
            reference.evict(other)
          }
          reference.assertShares(call, evicted)
          assert.ok(isAccepted || evicted.length === 0, 'a rejected call evicts nothing')
          if (isAccepted) reference.add(call)
        } else if (kind === 'take') {
          const taken = queue.take()
          assert.equal(taken === undefined, reference.waiting.size === 0)
          if (taken) reference.serve(taken)
        } else {
          const present = [...reference.waiting.keys()][projectIndex]
          queue.remove(present ?? call)
          if (present) reference.waiting.delete(present)
        }
        const images = [...reference.waiting.values()].flat()
        const expectedBytes = images.reduce((sum, { bytes }) => sum + bytes, 0)
        assert.deepEqual([queue.size.count, queue.size.bytes], [images.length, expectedBytes])
        assert.ok(queue.size.count <= bounds.countMax && queue.size.bytes <= bounds.bytesMax)
      }
    }),
    { numRuns: 2_000 },
  )
})

test('An account whose first call is removed keeps its turn for its other calls', () => {
  const queue = new FairQueue<QueuedTestImage, QueuedTestCall>(bounds)
  const [removed, other, own] = [batchOf('b', 1), batchOf('b', 1), batchOf('a', 2)]
  for (const call of [own, removed]) offerAndSubmit(queue, call)
  queue.take()
  offerAndSubmit(queue, other)
  queue.remove(removed)
  assert.equal(queue.take(), other.images[0])
})

test('After the reported number of images, and not before, there is room for a rejected call', () => {
  const offers = fc.array(
    fc.record({
      projectIndex: fc.nat(projects.length - 1),
      imageBytes: queueStep.map((step) => step.imageBytes),
    }),
    { minLength: 2, maxLength: 20 },
  )
  fc.assert(
    fc.property(offers, (steps) => {
      const queue = new FairQueue<QueuedTestImage, QueuedTestCall>(bounds)
      for (const { projectIndex, imageBytes } of steps) {
        const call = createCall(projects[projectIndex] ?? '', imageBytes)
        const { isAccepted, evicted } = offerAndSubmit(queue, call)
        if (isAccepted) continue
        assert.deepEqual(evicted, [])
        const imageCount = queue.imagesUntilRoom(call)
        const size = {
          count: call.images.length,
          bytes: call.images.reduce((s, i) => s + i.bytes, 0),
        }
        const hasRoom = () =>
          queue.size.count + size.count <= bounds.countMax &&
          queue.size.bytes + size.bytes <= bounds.bytesMax
        for (let taken = 0; taken < imageCount; taken++) {
          assert.equal(hasRoom(), false)
          queue.take()
        }
        // A call that exceeds the bounds alone has no room in an empty queue either.
        if (size.bytes <= bounds.bytesMax) assert.equal(queue.offer(call).isAccepted, true)
        return
      }
    }),
    { numRuns: 2_000 },
  )
})

test('A project that fills the queue loses calls to others, down to an equal share', () => {
  const queue = new FairQueue<QueuedTestImage, QueuedTestCall>({ ...bounds, countMax: 5 })
  const many = Array.from({ length: 6 }, () => batchOf('a', 1))
  assert.deepEqual(
    many.map((call) => queue.offer(call).isAccepted),
    [true, true, true, true, true, false],
  )
  const offers = Array.from({ length: 3 }, () => queue.offer(batchOf('b', 1)))
  assert.deepEqual(offers, [
    { isAccepted: true, evicted: [many[4]] },
    { isAccepted: true, evicted: [many[3]] },
    { isAccepted: false, evicted: [] },
  ])
})

test('A batch evicts as many calls as it needs, and counts with all of its images', () => {
  const queue = new FairQueue<QueuedTestImage, QueuedTestCall>(bounds)
  const many = Array.from({ length: 12 }, () => batchOf('a', 1))
  for (const call of many) queue.offer(call)
  assert.deepEqual(queue.offer(batchOf('b', 7)), { isAccepted: false, evicted: [] })
  const evicted = many.slice(6).toReversed()
  assert.deepEqual(queue.offer(batchOf('b', 6)), { isAccepted: true, evicted })
  assert.deepEqual(queue.offer(batchOf('b', 1)), { isAccepted: false, evicted: [] })
  assert.deepEqual(queue.offer(batchOf('a', 1)), { isAccepted: false, evicted: [] })
})

test('A batch is evicted whole, and not at all once one of its images was taken', () => {
  const queue = new FairQueue<QueuedTestImage, QueuedTestCall>(bounds)
  const [begun, waiting] = [batchOf('a', 7), batchOf('a', 6)]
  offerAndSubmit(queue, begun)
  queue.take()
  assert.equal(offerAndSubmit(queue, waiting).isAccepted, true)
  assert.deepEqual(queue.offer(batchOf('b', 3)), { isAccepted: true, evicted: [waiting] })
  assert.deepEqual(queue.offer(batchOf('c', 4)), { isAccepted: false, evicted: [] })
})

test('A project that fills the memory loses calls to others', () => {
  const queue = new FairQueue<QueuedTestImage, QueuedTestCall>(bounds)
  const [first, second] = [batchOf('a', 1, 50), batchOf('a', 1, 50)]
  queue.offer(first)
  queue.offer(second)
  assert.deepEqual(queue.offer(batchOf('b', 1, 51)), { isAccepted: false, evicted: [] })
  assert.deepEqual(queue.offer(batchOf('b', 1, 50)), { isAccepted: true, evicted: [second] })
})

test('A reserved image is taken only after it was submitted, and does not delay other calls', () => {
  const queue = new FairQueue<QueuedTestImage, QueuedTestCall>(bounds)
  const [first, second] = [batchOf('a', 2), batchOf('a', 1)]
  queue.offer(first)
  offerAndSubmit(queue, second)
  assert.equal(queue.take(), second.images[0])
  assert.equal(queue.take(), undefined)
  queue.submit(first, first.images[1] ?? assert.fail())
  assert.equal(queue.take(), first.images[1])
  assert.equal(queue.size.count, 1)
})

test('The projects of an account share the turns and the places of that account', () => {
  const queue = new FairQueue<QueuedTestImage, QueuedTestCall>(bounds)
  const many = ['e1', 'e2', 'e3', 'e4'].map((projectId) => batchOf(projectId, 3))
  for (const call of many) offerAndSubmit(queue, call)
  const [one, two] = [batchOf('a', 3), batchOf('a', 3)]
  assert.deepEqual(offerAndSubmit(queue, one), { isAccepted: true, evicted: [many[0]] })
  assert.deepEqual(offerAndSubmit(queue, two), { isAccepted: true, evicted: [many[1]] })
  assert.deepEqual(queue.offer(batchOf('a', 1)), { isAccepted: false, evicted: [] })
  assert.deepEqual(queue.offer(batchOf('e5', 4)), { isAccepted: false, evicted: [] })
  const owners = Array.from({ length: 6 }, () => {
    const image = queue.take() ?? assert.fail()
    return [...many, one, two].find(({ images }) => images.includes(image))?.projectId
  })
  assert.deepEqual(owners, ['e3', 'a', 'e4', 'a', 'e3', 'a'])
})

test('A project of the same account evicts calls down to an equal share of the project', () => {
  const queue = new FairQueue<QueuedTestImage, QueuedTestCall>(bounds)
  const many = Array.from({ length: 6 }, () => batchOf('e1', 2))
  for (const call of many) offerAndSubmit(queue, call)
  assert.deepEqual(queue.offer(batchOf('e2', 6)), {
    isAccepted: true,
    evicted: many.slice(3).toReversed(),
  })
  assert.deepEqual(queue.offer(batchOf('e2', 1)), { isAccepted: false, evicted: [] })
})
