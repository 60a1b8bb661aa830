import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { postgresMissing } from './postgres.ts'
import { enrol, openBoth, templateOf } from './two-searches.ts'

const skip = postgresMissing ?? false
const modelIds = ['people@1', 'former@1'] as const
const models = { active: modelIds[0], former: [modelIds[1]] }

/** Looks of a small town, so that probes have mates, doubles and strangers. */
const look = fc.record({
  person: fc.integer({ min: 0, max: 30 }),
  take: fc.integer({ min: 0, max: 3 }),
  modelId: fc.constantFrom(...modelIds),
})
const groups = fc.subarray(['staff', 'guests', 'banned'])
const people = fc.array(
  fc.record({ looks: fc.array(look, { minLength: 1, maxLength: 4 }), groups }),
  { maxLength: 40 },
)
const question = fc.record({
  probes: fc.array(look, { minLength: 1, maxLength: 3 }),
  limit: fc.integer({ min: 1, max: 20 }),
  groups: fc.option(groups, { nil: undefined }),
  excluded: fc.option(fc.integer({ min: 0, max: 39 }), { nil: undefined }),
})
const history = fc.record({
  first: people,
  later: people,
  removed: fc.array(fc.integer({ min: 0, max: 39 })),
  regrouped: fc.array(fc.record({ who: fc.integer({ min: 0, max: 39 }), groups })),
  questions: fc.array(question, { minLength: 3, maxLength: 6 }),
})

for (const isRotated of [true, false])
  test(
    `any gallery of two models is answered as in memory, ${isRotated ? 'rotated' : 'plain'}`,
    { skip },
    async () => {
      await using both = await openBoth({ models, isRotated })
      const { store, owner, inMemory, inDatabase } = both
      const { galleryId } = owner
      await fc.assert(
        fc.asyncProperty(history, async ({ first, later, removed, regrouped, questions }) => {
          await inDatabase.clear(galleryId)
          const subjects = await enrol(both, inDatabase, first)
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
          await enrol(both, inMemory, later)
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
              await inDatabase.comparable(galleryId, modelIds),
              await inMemory.comparable(galleryId, modelIds),
            )
          }
          assert.deepEqual(
            await inDatabase.formerModels(galleryId),
            await inMemory.formerModels(galleryId),
          )
        }),
        { numRuns: 12 },
      )
    },
  )
