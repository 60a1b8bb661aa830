import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { correctedScore, type TemplateVector } from '../../calibration/score.ts'
import type { ScoredSubject } from '../scored-subject.ts'
import { openExactSearch, type ExactSearch, type ModelSearchOptions } from './exact-search.ts'
import type { IndexChange } from './index-change.ts'

const log = { info: () => {}, error: () => {} }
const modelId = 'model'
type TestSearchOptions = Omit<ModelSearchOptions, 'modelId'>
type TestTemplate = NonNullable<IndexChange['template']>

/** What a gallery holds, searched by scoring everything. */
class Reference {
  readonly templates = new Map<string, TestTemplate>()

  apply(changes: readonly IndexChange[]): void {
    for (const { templateId, template } of changes)
      if (template) this.templates.set(templateId, template)
      else this.templates.delete(templateId)
  }

  search(
    probe: TemplateVector,
    { limit, groups, excludeSubjectId }: TestSearchOptions,
  ): ScoredSubject[] {
    const all = [...this.templates]
      .filter(([, { subjectId }]) => subjectId !== excludeSubjectId)
      .filter(([, template]) => !groups || groups.some((group) => template.groups.includes(group)))
      .map(([templateId, template]) => {
        const score = correctedScore(probe, template)
        return { templateId, subjectId: template.subjectId, score }
      })
      .sort((a, b) => b.score - a.score || (a.templateId < b.templateId ? -1 : 1))
    const seen = new Set<string>()
    const best = all.filter(({ subjectId }) => !seen.has(subjectId) && seen.add(subjectId))
    return best.slice(0, limit)
  }
}

/** Pseudo-random numbers about 0, the same ones every time. */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0
    return state / 2 ** 31
  }
}

function face(random: () => number, dimensions: number, size = 1): TemplateVector {
  const vector = Float32Array.from({ length: dimensions }, () => random() * size)
  return { vector, density: -Math.abs(random()) }
}

let lastSequence = 0
function put(templateId: string, template: Partial<TestTemplate> & TemplateVector): IndexChange {
  const rest = { modelId, subjectId: templateId, groups: [], ...template }
  return { sequence: ++lastSequence, templateId, template: rest }
}
const removal = (templateId: string): IndexChange => ({ sequence: ++lastSequence, templateId })

/** The index answers as the reference does, to the last bit, also beyond the first place. */
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

test('any gallery is ranked as float32 brute force ranks it, through any changes', async () => {
  await using search = openExactSearch({ threads: 2, log })
  const groups = fc.subarray(['a', 'b', 'c'])
  const step = fc.record({
    templateId: fc.integer({ min: 0, max: 150 }).map(String),
    subject: fc.integer({ min: 0, max: 40 }).map(String),
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
      const random = numbers(seed)
      const galleryId = `gallery ${galleryNumber++}`
      const model = { modelId: `${modelId} ${dimensions}` }
      const changes = steps.map(({ templateId, subject, removed, groups: its, size }) =>
        removed
          ? removal(templateId)
          : put(templateId, {
              ...face(random, dimensions, size),
              ...model,
              subjectId: subject,
              groups: its,
            }),
      )
      const reference = new Reference()
      reference.apply(changes)
      await search.apply(galleryId, changes)
      assert.equal(search.size(galleryId), reference.templates.size)
      const options = { limit, groups: rest.filter, excludeSubjectId: rest.excludeSubjectId }
      for (const size of [1, 1e-20]) {
        const probe = face(random, dimensions, size)
        const found = await search.search(galleryId, probe, { ...options, ...model })
        assert.deepEqual(found, reference.search(probe, options))
      }
      await search.drop(galleryId)
    }),
    { numRuns: 60 },
  )
})

test('two threads rank a large gallery as brute force does, and groups hide nobody', async () => {
  await using search = openExactSearch({ threads: 2, log })
  const random = numbers(1)
  const reference = new Reference()
  const changes = Array.from({ length: 50_000 }, (_, at) =>
    put(`t${at}`, {
      ...face(random, 32),
      subjectId: `s${at >> 1}`,
      groups: [`g${at % 2}`, `small${at % 10_000}`],
    }),
  )
  reference.apply(changes)
  await search.apply('large', changes)
  for (const groups of [undefined, ['g1'], ['small17', 'small18'], ['nobody']])
    for (const limit of [1, 10, 200]) {
      const probe = face(random, 32)
      await assertSame(search, 'large', { reference, probe, options: { limit, groups } })
    }
})

test('the right one of ten thousand near-duplicates is found', async () => {
  await using search = openExactSearch({ threads: 1, log })
  const random = numbers(2)
  const reference = new Reference()
  const centre = face(random, 256)
  const changes = Array.from({ length: 10_000 }, (_, at) => {
    const vector = centre.vector.map((value) => value + random() * 1e-4)
    return put(`t${at}`, { vector, density: centre.density })
  })
  reference.apply(changes)
  await search.apply('twins', changes)
  for (const number of [0, 4_321, 9_999]) {
    const probe = changes[number]?.template
    assert.ok(probe)
    await assertSame(search, 'twins', { reference, probe, options: { limit: 3 } })
  }
})

test('a subject with a thousand templates takes one place', async () => {
  await using search = openExactSearch({ threads: 1, log })
  const random = numbers(3)
  const reference = new Reference()
  const crowd = Array.from({ length: 1_000 }, (_, at) =>
    put(`crowd${at}`, { ...face(random, 64, 0.1), subjectId: 'crowd' }),
  )
  const others = Array.from({ length: 5 }, (_, at) => put(`other${at}`, face(random, 64)))
  reference.apply([...crowd, ...others])
  await search.apply('mixed', [...crowd, ...others])
  const probe = { vector: new Float32Array(64), density: 0 }
  await assertSame(search, 'mixed', { reference, probe, options: { limit: 6 } })
  const options = { limit: 6, excludeSubjectId: 'crowd' }
  await assertSame(search, 'mixed', { reference, probe, options })
})

test('repeated and late changes are passed over; the sequence is that of the last one', async () => {
  await using search = openExactSearch({ threads: 1, log })
  const random = numbers(4)
  const [one, other] = [face(random, 8), face(random, 8)]
  const enrolled: IndexChange[] = [
    { sequence: 3, templateId: 'a', template: { ...one, modelId, subjectId: 'A', groups: [] } },
    { sequence: 3, templateId: 'b', template: { ...other, modelId, subjectId: 'B', groups: [] } },
  ]
  assert.equal(search.sequenceOf('g'), 0)
  await search.apply('g', enrolled)
  await search.apply('g', enrolled)
  assert.deepEqual([search.sequenceOf('g'), search.size('g')], [3, 2])
  await search.apply('g', [{ sequence: 5, templateId: 'a' }])
  await search.apply('g', enrolled)
  assert.deepEqual([search.sequenceOf('g'), search.size('g')], [5, 1])
  const { bytes, ...counts } = search.stats()
  assert.deepEqual(counts, { galleries: 1, rows: 1 })
  assert.equal(bytes, 64 * (32 + 8 * 4 + 8))
  await search.drop('g')
  assert.deepEqual([search.sequenceOf('g'), search.size('g')], [0, 0])
  assert.deepEqual(search.stats(), { galleries: 0, rows: 0, bytes: 0 })
})

test('a search sees every change applied before it, and none of a gallery is half there', async () => {
  await using search = openExactSearch({ threads: 2, log })
  const random = numbers(5)
  const searches: Promise<void>[] = []
  const faces = Array.from({ length: 300 }, () => face(random, 16))
  for (const [at, probe] of faces.entries()) {
    await search.apply('g', [put(`t${at}`, probe)])
    const seen = search.search('g', probe, { limit: 1, modelId })
    searches.push(seen.then(([best]) => assert.equal(best?.templateId, `t${at}`)))
    if (at % 3 !== 0) continue
    await search.apply('g', [removal(`t${at}`)])
    const gone = search.search('g', probe, { limit: 300, modelId })
    const promised = gone.then((found) => found.every(({ templateId }) => templateId !== `t${at}`))
    searches.push(promised.then((isGone) => assert.ok(isGone)))
  }
  await Promise.all(searches)
  assert.equal(search.size('g'), 200)
})

test('calls of one gallery that overlap are carried out in their order', async () => {
  await using search = openExactSearch({ threads: 1, log })
  const random = numbers(6)
  const changes = Array.from({ length: 3_000 }, (_, at) => put(`t${at}`, face(random, 16)))
  const parts = [changes.slice(0, 1_000), changes.slice(1_000, 2_000), changes.slice(2_000)]
  await Promise.all(parts.map((part) => search.apply('g', part)))
  assert.equal(search.size('g'), 3_000)
  assert.equal(search.sequenceOf('g'), changes.at(-1)?.sequence)
})

test('models and galleries are never compared', async () => {
  await using search = openExactSearch({ threads: 1, log })
  const random = numbers(7)
  const small = face(random, 16)
  const large = face(random, 512)
  await search.apply('g', [put('s', { ...small, modelId: 'small' })])
  await search.apply('g', [put('l', { ...large, modelId: 'large' })])
  await search.apply('h', [put('o', { ...small, modelId: 'small' })])
  const found = await search.search('g', small, { limit: 9, modelId: 'small' })
  assert.deepEqual(
    found.map(({ templateId }) => templateId),
    ['s'],
  )
  assert.deepEqual(await search.search('g', large, { limit: 9, modelId: 'other' }), [])
  assert.deepEqual(await search.search('nowhere', large, { limit: 9, modelId: 'large' }), [])
  assert.deepEqual([search.size('g'), search.size('g', 'small')], [2, 1])
  assert.deepEqual([search.dimensions('large'), search.dimensions('other')], [512, undefined])
  const { bytes } = search.stats()
  await search.apply('g', [put('s', { ...large, modelId: 'large' })])
  assert.deepEqual([search.size('g', 'small'), search.size('g', 'large')], [0, 2])
  assert.ok(search.stats().bytes < bytes, 'what nothing is left of takes no memory')
  await search.apply('g', [put('t', { ...small, modelId: 'small' })])
  assert.deepEqual([search.size('g', 'small'), search.size('g', 'large')], [1, 2])
})

test('what cannot be compared is refused', async () => {
  await using search = openExactSearch({ threads: 1, log })
  const random = numbers(8)
  await search.apply('g', [put('t', face(random, 16))])
  const bad = { vector: Float32Array.of(Number.NaN), density: 0 }
  await assert.rejects(search.search('g', face(random, 17), { limit: 1, modelId }))
  await assert.rejects(search.search('g', bad, { limit: 1, modelId }))
  await assert.rejects(search.search('g', face(random, 16), { limit: 0, modelId }))
  await assert.rejects(search.apply('g', [put('u', face(random, 17))]))
  await assert.rejects(search.apply('g', [put('u', { ...face(random, 16), density: Infinity })]))
  assert.equal(search.size('g'), 1)
})

test('a probe that is a view is searched for as itself', async () => {
  await using search = openExactSearch({ threads: 1, log })
  const random = numbers(9)
  const all = Float32Array.from({ length: 160 }, random)
  const views = Array.from({ length: 10 }, (_, at) => all.subarray(at * 16, at * 16 + 16))
  await search.apply(
    'g',
    views.map((vector, at) => put(`t${at}`, { vector, density: 0 })),
  )
  for (const [at, vector] of views.entries()) {
    const [best] = await search.search('g', { vector, density: 0 }, { limit: 1, modelId })
    assert.deepEqual(best, { templateId: `t${at}`, subjectId: `t${at}`, score: -0 })
  }
  assert.ok(all.some((value) => value !== 0))
})

test('when it is closed, what waits and what comes later rejects', async () => {
  const search = openExactSearch({ threads: 2, log })
  const late = search.search('g', face(numbers(1), 16), { limit: 1, modelId })
  const rejected = assert.rejects(late, /closed/u)
  await search.close()
  await rejected
  await assert.rejects(search.apply('g', [removal('t')]), /closed/u)
})
