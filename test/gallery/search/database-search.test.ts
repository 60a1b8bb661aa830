import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { postgresSkipReason } from '../../support/database/postgres-server.ts'
import { enrollPeople, openSearchPair, templateOf } from '../../support/gallery/search-pair.ts'

const skip = postgresSkipReason ?? false
const modelIds = ['people@1', 'former@1'] as const
const models = { active: modelIds[0], former: [modelIds[1]] }

/** Looks of a small town, so that probes have mates, doubles and strangers. */
const sampleArbitrary = fc.record({
  person: fc.integer({ min: 0, max: 30 }),
  take: fc.integer({ min: 0, max: 3 }),
  modelId: fc.constantFrom(...modelIds),
})
const groupsArbitrary = fc.subarray(['staff', 'guests', 'banned'])
const peopleArbitrary = fc.array(
  fc.record({
    looks: fc.array(sampleArbitrary, { minLength: 1, maxLength: 4, size: 'max' }),
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
  regrouped: fc.array(fc.record({ who: fc.integer({ min: 0, max: 39 }), groups: groupsArbitrary })),
  questions: fc.array(queryArbitrary, { minLength: 3, maxLength: 6 }),
})

for (const isRotated of [true, false])
  test(
    `any gallery of two models is answered as in memory, ${isRotated ? 'rotated' : 'plain'}`,
    { skip },
    async () => {
      await using both = await openSearchPair({ models, isRotated })
      const { store, owner, inMemory, inDatabase } = both
      const { galleryId } = owner
      await fc.assert(
        fc.asyncProperty(
          historyArbitrary,
          async ({ first, later, removed, regrouped, questions }) => {
            await inDatabase.clear(galleryId)
            const subjects = await enrollPeople(both, inDatabase, first)
            await store.write(async (tx) => {
              for (const who of new Set(removed)) {
                const subject = subjects[who]
                if (subject) await inDatabase.remove(tx, subject)
              }
              for (const { who, groups: its } of regrouped) {
                const subject = subjects[who]
                if (subject && !removed.includes(who))
                  await inDatabase.update(tx, subject, { removeGroups: ['staff'], addGroups: its })
              }
            })
            await enrollPeople(both, inMemory, later)
            for (const { probes, excluded, ...options } of questions) {
              const asked = probes.map(templateOf)
              const excludeSubjectId =
                excluded === undefined ? undefined : subjects[excluded]?.subjectId
              const wanted = { ...options, excludeSubjectId }
              assert.deepEqual(
                await inDatabase.search(galleryId, asked, wanted),
                await inMemory.search(galleryId, asked, wanted),
              )
              assert.deepEqual(
                await inDatabase.countComparable(galleryId, modelIds),
                await inMemory.countComparable(galleryId, modelIds),
              )
            }
            assert.deepEqual(
              await inDatabase.formerModels(galleryId),
              await inMemory.formerModels(galleryId),
            )
          },
        ),
        { numRuns: 6 },
      )
    },
  )

test(
  'the right one of hundreds that half precision cannot tell apart is found',
  { skip },
  async () => {
    await using both = await openSearchPair()
    const { owner, inMemory, inDatabase } = both
    const doubles = Array.from({ length: 300 }, (_, take) => ({
      looks: [{ person: 1, take: take + 1, deviation: 1e-5 }],
    }))
    await enrollPeople(both, inDatabase, doubles)
    for (const take of [1, 100, 300]) {
      const asked = [templateOf({ person: 1, take, deviation: 1e-5 })]
      const found = await inDatabase.search(owner.galleryId, asked, { limit: 5 })
      assert.deepEqual(found, await inMemory.search(owner.galleryId, asked, { limit: 5 }))
    }
  },
)
