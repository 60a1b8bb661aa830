import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { Gallery } from '../../../src/gallery/gallery.ts'
import { postgresSkipReason } from '../../support/database/postgres-server.ts'
import {
  enrollPeople,
  openSearchPair,
  templateOf,
  type SearchPair,
} from '../../support/gallery/search-pair.ts'

const skip = postgresSkipReason ?? false
const modelIds = ['people@1', 'former@1'] as const
const models = { active: modelIds[0], former: [modelIds[1]] }

/** Templates of 31 persons, so that probes have mates, duplicates and impostors. */
const sampleArbitrary = fc.record({
  person: fc.integer({ min: 0, max: 30 }),
  take: fc.integer({ min: 0, max: 3 }),
  modelId: fc.constantFrom(...modelIds),
})
const groupsArbitrary = fc.subarray(['staff', 'guests', 'banned'])
const peopleArbitrary = fc.array(
  fc.record({
    samples: fc.array(sampleArbitrary, { minLength: 1, maxLength: 4, size: 'max' }),
    groups: groupsArbitrary,
  }),
  { maxLength: 40, size: 'max' },
)
const queryArbitrary = fc.record({
  probes: fc.array(sampleArbitrary, { minLength: 1, maxLength: 3 }),
  limit: fc.integer({ min: 1, max: 20 }),
  groups: fc.option(groupsArbitrary, { nil: undefined }),
  excluded: fc.option(fc.integer({ min: 0, max: 39 }), { nil: undefined }),
})
const historyArbitrary = fc.record({
  first: peopleArbitrary,
  later: peopleArbitrary,
  removed: fc.array(fc.integer({ min: 0, max: 39 })),
  regrouped: fc.array(
    fc.record({ index: fc.integer({ min: 0, max: 39 }), groups: groupsArbitrary }),
  ),
  expiring: fc.array(fc.integer({ min: 0, max: 39 })),
  queries: fc.array(queryArbitrary, { minLength: 3, maxLength: 6 }),
})
type History = typeof historyArbitrary extends fc.Arbitrary<infer Value> ? Value : never

type EnrolledSubjects = Awaited<ReturnType<typeof enrollPeople>>

const dayMs = 86_400_000

/** Enrolls people in both galleries, removes some, and changes the groups and expiry of others. */
async function applyHistory(
  pair: SearchPair,
  history: History,
  nowMs: number,
): Promise<EnrolledSubjects> {
  const { store, owner, inMemory, inDatabase } = pair
  const { first, later, removed, regrouped, expiring } = history
  await inDatabase.maintenance.clear(owner.galleryId)
  const subjects = await enrollPeople(pair, inDatabase, first)
  await store.write(async (tx) => {
    for (const index of new Set(removed)) {
      const subject = subjects[index]
      if (subject) await inDatabase.subjects.remove(tx, subject)
    }
    for (const { index, groups } of regrouped) {
      const subject = subjects[index]
      if (subject && !removed.includes(index))
        await inDatabase.subjects.update(tx, subject, {
          removeGroups: ['staff'],
          addGroups: groups,
        })
    }
    const expiresAtUtc = new Date(nowMs + dayMs).toISOString()
    for (const index of expiring) {
      const subject = subjects[index]
      if (subject && !removed.includes(index))
        await inMemory.subjects.update(tx, subject, { expiresAtUtc })
    }
  })
  await enrollPeople(pair, inMemory, later)
  return subjects
}

test(
  'Any gallery with templates of two models returns the same results as in memory',
  { skip },
  async () => {
    let nowMs = Date.now()
    await using pair = await openSearchPair({ models, clock: () => nowMs })
    const { inMemory, inDatabase } = pair
    const { galleryId } = pair.owner
    const assertEqualResults = async (run: (gallery: Gallery) => Promise<unknown>) =>
      assert.deepEqual(await run(inDatabase), await run(inMemory))
    await fc.assert(
      fc.asyncProperty(historyArbitrary, async (history) => {
        const subjects = await applyHistory(pair, history, nowMs)
        nowMs += dayMs
        const expiredIds = new Set(history.expiring.map((index) => subjects[index]?.subjectId))
        for (const { probes, excluded, ...rest } of history.queries) {
          const templates = probes.map(templateOf)
          const excludeSubjectId =
            excluded === undefined ? undefined : subjects[excluded]?.subjectId
          const options = { ...rest, excludeSubjectId }
          await assertEqualResults((gallery) =>
            gallery.matching.search(galleryId, templates, options),
          )
          for (const { subjectId } of await inMemory.matching.search(galleryId, templates, options))
            assert.ok(!expiredIds.has(subjectId))
          await assertEqualResults((gallery) =>
            gallery.matching.countComparable(galleryId, modelIds),
          )
        }
        await assertEqualResults((gallery) => gallery.matching.formerModels(galleryId))
      }),
      { numRuns: 12 },
    )
  },
)

test(
  'The correct one of 300 templates that half precision cannot distinguish is found',
  { skip },
  async () => {
    await using pair = await openSearchPair()
    const { owner, inMemory, inDatabase } = pair
    const nearDuplicates = Array.from({ length: 300 }, (_, take) => ({
      samples: [{ person: 1, take: take + 1, deviation: 1e-5 }],
    }))
    await enrollPeople(pair, inDatabase, nearDuplicates)
    for (const take of [1, 100, 300]) {
      const probes = [templateOf({ person: 1, take, deviation: 1e-5 })]
      const found = await inDatabase.matching.search(owner.galleryId, probes, { limit: 5 })
      assert.deepEqual(found, await inMemory.matching.search(owner.galleryId, probes, { limit: 5 }))
    }
  },
)
