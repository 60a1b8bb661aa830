import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { TemplateVector } from '../../calibration/similarity.ts'
import { scoreSubject, type ScoredSubject } from '../scored-subject.ts'
import { openExactSearch, type ExactSearch, type ModelSearchOptions } from './exact-search.ts'
import type { IndexChange } from './index-change.ts'

const log = { info: () => {}, error: () => {} }
const modelId = 'model'
type TestSearchOptions = Omit<ModelSearchOptions, 'modelId'>
type TestTemplate = IndexChange['templates'][number]

/** A gallery that is searched by scoring every subject. */
class Reference {
  readonly templates = new Map<string, TestTemplate>()

  apply(changes: readonly IndexChange[]): void {
    for (const { subjectId, templates } of changes) {
      const [template] = templates
      if (template) this.templates.set(subjectId, template)
      else this.templates.delete(subjectId)
    }
  }

  search(
    probe: TemplateVector,
    { limit, groups, excludeSubjectId }: TestSearchOptions,
  ): ScoredSubject[] {
    return [...this.templates]
      .filter(([subjectId]) => subjectId !== excludeSubjectId)
      .filter(([, template]) => !groups || groups.some((group) => template.groups.includes(group)))
      .map(([subjectId, template]) => {
        return { ...scoreSubject(subjectId, probe, template), faceId: template.faceId }
      })
      .sort((a, b) => b.score - a.score || (a.subjectId < b.subjectId ? -1 : 1))
      .slice(0, limit)
  }
}

/** Returns a generator of pseudo-random numbers in -1..1; a seed always gives the same numbers. */
function pseudoRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0
    return state / 2 ** 31
  }
}

function randomTemplate(random: () => number, dimensions: number, size = 1): TemplateVector {
  const vector = Float32Array.from({ length: dimensions }, () => random() * size)
  return { vector, density: -Math.abs(random()) }
}

let lastSequence = 0
function put(subjectId: string, template: Partial<TestTemplate> & TemplateVector): IndexChange {
  const rest = { modelId, faces: 1, groups: [], ...template }
  const faceId = rest.faces === 1 ? `face of ${subjectId}` : undefined
  return { sequence: ++lastSequence, subjectId, templates: [{ faceId, ...rest }] }
}
const removal = (subjectId: string): IndexChange => {
  return { sequence: ++lastSequence, subjectId, templates: [] }
}

/** Asserts that the index returns exactly the results of the reference, in the same order. */
async function assertSame(
  search: ExactSearch,
  galleryId: string,
  {
    reference,
    probe,
    options,
  }: { reference: Reference; probe: TemplateVector; options: TestSearchOptions },
): Promise<void> {
  const found = await search.search(galleryId, probe, { ...options, modelId })
  assert.deepEqual(found, reference.search(probe, options))
}

test('After any changes, the ranking is that of scoring every subject in float32', async () => {
  await using search = openExactSearch({ threads: 2, log })
  const groups = fc.subarray(['a', 'b', 'c'])
  const step = fc.record({
    subjectId: fc.integer({ min: 0, max: 150 }).map(String),
    faces: fc.integer({ min: 1, max: 20 }),
    removed: fc.boolean(),
    groups,
    size: fc.constantFrom(1, 1, 1, 1e-3, 1e3, 1e-20, 0),
  })
  const gallery = fc.record({
    dimensions: fc.integer({ min: 1, max: 300 }),
    seed: fc.integer(),
    steps: fc.array(step, { maxLength: 600 }),
    limit: fc.integer({ min: 1, max: 50 }),
    filter: fc.option(groups, { nil: undefined }),
    excludeSubjectId: fc.option(fc.constant('7'), { nil: undefined }),
  })
  let galleryNumber = 0
  await fc.assert(
    fc.asyncProperty(gallery, async ({ dimensions, seed, steps, limit, ...rest }) => {
      const random = pseudoRandom(seed)
      const galleryId = `gallery ${galleryNumber++}`
      const model = { modelId: `${modelId} ${dimensions}` }
      const changes = steps.map(({ subjectId, faces, removed, groups: changedGroups, size }) =>
        removed
          ? removal(subjectId)
          : put(subjectId, {
              ...randomTemplate(random, dimensions, size),
              ...model,
              faces,
              groups: changedGroups,
            }),
      )
      const reference = new Reference()
      reference.apply(changes)
      await search.apply(galleryId, changes)
      const faces = [...reference.templates.values()].reduce((sum, row) => sum + row.faces, 0)
      assert.deepEqual(search.size(galleryId), { rows: reference.templates.size, faces })
      const options = { limit, groups: rest.filter, excludeSubjectId: rest.excludeSubjectId }
      for (const size of [1, 1e-20]) {
        const probe = randomTemplate(random, dimensions, size)
        const found = await search.search(galleryId, probe, { ...options, ...model })
        assert.deepEqual(found, reference.search(probe, options))
      }
      await search.drop(galleryId)
    }),
    { numRuns: 60 },
  )
})

test('Two threads rank a large gallery exactly, and group filters lose no subject', async () => {
  await using search = openExactSearch({ threads: 2, log })
  const random = pseudoRandom(1)
  const reference = new Reference()
  const changes = Array.from({ length: 50_000 }, (_, index) =>
    put(`t${index}`, {
      ...randomTemplate(random, 32),
      groups: [`g${index % 2}`, `small${index % 10_000}`],
    }),
  )
  reference.apply(changes)
  await search.apply('large', changes)
  for (const groups of [undefined, ['g1'], ['small17', 'small18'], ['unknown']])
    for (const limit of [1, 10, 200]) {
      const probe = randomTemplate(random, 32)
      await assertSame(search, 'large', { reference, probe, options: { limit, groups } })
    }
})

test('The correct one of ten thousand near-duplicates is found', async () => {
  await using search = openExactSearch({ threads: 1, log })
  const random = pseudoRandom(2)
  const reference = new Reference()
  const center = randomTemplate(random, 256)
  const changes = Array.from({ length: 10_000 }, (_, index) => {
    const vector = center.vector.map((value) => value + random() * 1e-4)
    return put(`t${index}`, { vector, density: center.density })
  })
  reference.apply(changes)
  await search.apply('near-duplicates', changes)
  for (const number of [0, 4_321, 9_999]) {
    const probe = changes[number]?.templates[0]
    assert.ok(probe)
    await assertSame(search, 'near-duplicates', { reference, probe, options: { limit: 3 } })
  }
})

test('Repeated and outdated changes are skipped; the sequence is that of the last change', async () => {
  await using search = openExactSearch({ threads: 1, log })
  const random = pseudoRandom(4)
  const [first, second] = [randomTemplate(random, 8), randomTemplate(random, 8)]
  const enrolled: IndexChange[] = [
    { ...put('a', first), sequence: 3 },
    { ...put('b', second), sequence: 3 },
  ]
  assert.equal(search.sequenceOf('g'), 0)
  await search.apply('g', enrolled)
  await search.apply('g', enrolled)
  assert.deepEqual([search.sequenceOf('g'), search.size('g').rows], [3, 2])
  await search.apply('g', [{ sequence: 5, subjectId: 'a', templates: [] }])
  await search.apply('g', enrolled)
  assert.deepEqual([search.sequenceOf('g'), search.size('g').rows], [5, 1])
  const { bytes, ...counts } = search.stats()
  assert.deepEqual(counts, { galleries: 1, rows: 1 })
  // Codes, the vector, the density and the owner of 64 rows.
  assert.equal(bytes, 64 * (32 + 8 * 4 + 8 + 45))
  await search.drop('g')
  assert.deepEqual([search.sequenceOf('g'), search.size('g').rows], [0, 0])
  assert.deepEqual(search.stats(), { galleries: 0, rows: 0, bytes: 0 })
})

test('A search includes every change that was applied before it', async () => {
  await using search = openExactSearch({ threads: 2, log })
  const random = pseudoRandom(5)
  const searches: Promise<void>[] = []
  const probes = Array.from({ length: 300 }, () => randomTemplate(random, 16))
  for (const [index, probe] of probes.entries()) {
    await search.apply('g', [put(`t${index}`, probe)])
    const present = search.search('g', probe, { limit: 1, modelId })
    searches.push(present.then(([best]) => assert.equal(best?.subjectId, `t${index}`)))
    if (index % 3 !== 0) continue
    await search.apply('g', [removal(`t${index}`)])
    const removed = search.search('g', probe, { limit: 300, modelId })
    const isAbsent = removed.then((found) =>
      found.every(({ subjectId }) => subjectId !== `t${index}`),
    )
    searches.push(isAbsent.then((value) => assert.ok(value)))
  }
  await Promise.all(searches)
  assert.equal(search.size('g').rows, 200)
})

test('Concurrent calls for one gallery run in order', async () => {
  await using search = openExactSearch({ threads: 1, log })
  const random = pseudoRandom(6)
  const changes = Array.from({ length: 3_000 }, (_, index) =>
    put(`t${index}`, randomTemplate(random, 16)),
  )
  const parts = [changes.slice(0, 1_000), changes.slice(1_000, 2_000), changes.slice(2_000)]
  await Promise.all(parts.map((part) => search.apply('g', part)))
  assert.equal(search.size('g').rows, 3_000)
  assert.equal(search.sequenceOf('g'), changes.at(-1)?.sequence)
})

test('Templates of different models or galleries are never compared', async () => {
  await using search = openExactSearch({ threads: 1, log })
  const random = pseudoRandom(7)
  const small = randomTemplate(random, 16)
  const large = randomTemplate(random, 512)
  await search.apply('g', [put('s', { ...small, modelId: 'small' })])
  await search.apply('g', [put('l', { ...large, modelId: 'large' })])
  await search.apply('h', [put('o', { ...small, modelId: 'small' })])
  const found = await search.search('g', small, { limit: 9, modelId: 'small' })
  assert.deepEqual(
    found.map(({ subjectId }) => subjectId),
    ['s'],
  )
  assert.deepEqual(await search.search('g', large, { limit: 9, modelId: 'other' }), [])
  assert.deepEqual(await search.search('missing', large, { limit: 9, modelId: 'large' }), [])
  assert.deepEqual([search.size('g').rows, search.size('g', 'small').rows], [2, 1])
  assert.deepEqual([search.dimensions('large'), search.dimensions('other')], [512, undefined])
  const { bytes } = search.stats()
  await search.apply('g', [put('s', { ...large, modelId: 'large' })])
  assert.deepEqual([search.size('g', 'small').rows, search.size('g', 'large').rows], [0, 2])
  assert.ok(search.stats().bytes < bytes, 'an empty table uses no memory')
  await search.apply('g', [put('t', { ...small, modelId: 'small' })])
  assert.deepEqual([search.size('g', 'small').rows, search.size('g', 'large').rows], [1, 2])
})

test('Templates and probes that cannot be compared are rejected', async () => {
  await using search = openExactSearch({ threads: 1, log })
  const random = pseudoRandom(8)
  await search.apply('g', [put('t', randomTemplate(random, 16))])
  const bad = { vector: Float32Array.of(Number.NaN), density: 0 }
  await assert.rejects(search.search('g', randomTemplate(random, 17), { limit: 1, modelId }))
  await assert.rejects(search.search('g', bad, { limit: 1, modelId }))
  await assert.rejects(search.search('g', randomTemplate(random, 16), { limit: 0, modelId }))
  await assert.rejects(search.apply('g', [put('u', randomTemplate(random, 17))]))
  await assert.rejects(
    search.apply('g', [put('u', { ...randomTemplate(random, 16), density: Infinity })]),
  )
  assert.equal(search.size('g').rows, 1)
})

test('A probe that is a view of a larger buffer is searched correctly', async () => {
  await using search = openExactSearch({ threads: 1, log })
  const random = pseudoRandom(9)
  const all = Float32Array.from({ length: 160 }, random)
  const views = Array.from({ length: 10 }, (_, index) => all.subarray(index * 16, index * 16 + 16))
  await search.apply(
    'g',
    views.map((vector, index) => put(`t${index}`, { vector, density: 0 })),
  )
  for (const [index, vector] of views.entries()) {
    const [best] = await search.search('g', { vector, density: 0 }, { limit: 1, modelId })
    assert.deepEqual([best?.subjectId, best?.score, best?.isIdentical], [`t${index}`, -0, true])
  }
  assert.ok(all.some((value) => value !== 0))
})

test('Closing the search rejects pending and later requests', async () => {
  const search = openExactSearch({ threads: 2, log })
  const pending = search.search('g', randomTemplate(pseudoRandom(1), 16), { limit: 1, modelId })
  const rejected = assert.rejects(pending, /closed/u)
  await search.close()
  await rejected
  await assert.rejects(search.apply('g', [removal('t')]), /closed/u)
})
