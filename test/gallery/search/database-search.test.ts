import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { Gallery } from '../../../src/gallery/gallery.ts'
import {
  type SubjectKeys,
  createSubjectKeys,
  openKeyring,
} from '../../../src/gallery/keys/keyring.ts'
import { encryptTemplate } from '../../../src/gallery/keys/template-encryption.ts'
import { findSubjectFaces, markSubjectChanged } from '../../../src/store/gallery/faces.ts'
import { findGallery, recordGalleryChange } from '../../../src/store/gallery/galleries.ts'
import { findSubjectsByIds } from '../../../src/store/gallery/subjects.ts'
import { addTemplate, findFaceTemplates } from '../../../src/store/gallery/templates.ts'
import type { Tx } from '../../../src/store/database.ts'
import type { Template } from '../../../src/vision/embed/template.ts'
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
  faces: fc.array(
    fc.record({
      from: fc.integer({ min: 0, max: 39 }),
      to: fc.integer({ min: 0, max: 39 }),
      face: fc.integer({ min: 0, max: 3 }),
      change: fc.constantFrom('remove', 'move', 'merge', 're-embed'),
      inMemory: fc.boolean(),
    }),
    { maxLength: 12, size: 'max' },
  ),
  queries: fc.array(queryArbitrary, { minLength: 3, maxLength: 6 }),
})
type History = typeof historyArbitrary extends fc.Arbitrary<infer Value> ? Value : never

type EnrolledSubjects = Awaited<ReturnType<typeof enrollPeople>>

const dayMs = 86_400_000

/** Removes, moves or re-embeds a face, or merges two subjects, where that is possible. */
async function changeFace(
  { store, masterKeyFile, ...pair }: SearchPair,
  subjects: EnrolledSubjects,
  { from, to, face, change, inMemory }: History['faces'][number],
): Promise<void> {
  const gallery = inMemory ? pair.inMemory : pair.inDatabase
  await store.write(async (tx) => {
    const ids = [from, to].flatMap((index) => subjects[index]?.subjectId ?? [])
    const rows = await findSubjectsByIds(tx, pair.owner.galleryId, ids)
    const [source, target] = ids.map((id) => rows.find(({ subjectId }) => subjectId === id))
    const faces = source ? await findSubjectFaces(tx, source.subjectId) : []
    const faceIds = faces.slice(face, face + 1).map(({ faceId }) => faceId)
    if (!source || faceIds.length === 0) return
    if (change === 're-embed') {
      const keys = createSubjectKeys(openKeyring(masterKeyFile), Date.now)
      await reEmbed(tx, faceIds[0] ?? '', keys)
    } else if (change === 'remove' && faces.length > 1)
      await gallery.subjects.update(tx, source, { removeFaceIds: faceIds })
    else if (!target || target.subjectId === source.subjectId) return
    else if (change === 'merge') await gallery.subjects.merge(tx, { source, target })
    else if (change === 'move' && faces.length > 1)
      await gallery.subjects.moveFaces(tx, { target, faceIds })
  })
}

/** Adds a template of the active model to a face, as re-embedding does. */
async function reEmbed(tx: Tx, faceId: string, keys: SubjectKeys): Promise<void> {
  const stored = await findFaceTemplates(tx, [faceId])
  const [row] = stored
  const [modelId] = modelIds
  if (!row || stored.some((template) => template.modelId === modelId)) return
  const { galleryId, subjectId } = row
  const accountId = (await findGallery(tx, galleryId))?.accountId ?? ''
  const binding = { accountId, galleryId, subjectId, faceId, modelId }
  const template = templateOf({ person: faceId.charCodeAt(0) % 31, take: 1 })
  const ciphertext = encryptTemplate(await keys.unwrap(tx, row), binding, template)
  const sequence = await recordGalleryChange(tx, { galleryId })
  await markSubjectChanged(tx, { subjectId, sequence })
  await addTemplate(tx, { galleryId, faceId, modelId, ciphertext })
}

/** Enrolls people in both galleries, removes some, and changes the faces and fields of others. */
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
  for (const change of history.faces) await changeFace(pair, subjects, change)
  // Half of the galleries are searched with stale vectors.
  if (history.faces.length % 2 === 0)
    await inDatabase.maintenance.maintainSearch(new AbortController().signal)
  return subjects
}

/** Asserts that the comparison with a subject has the result of a search. */
async function assertVerifiesAsFound(
  { owner: { galleryId }, inDatabase: { matching }, store }: SearchPair,
  probes: readonly Template[],
  options: Parameters<Gallery['matching']['search']>[2],
): Promise<void> {
  const hits = await matching.search(galleryId, probes, options)
  await store.read(async (reading) => {
    for (const { subjectId, mayBeDenied, ...hit } of hits) {
      assert.equal(mayBeDenied, false, 'no match was denied')
      const [subject] = await findSubjectsByIds(reading, galleryId, [subjectId])
      assert.ok(subject)
      const verified = await matching.matchSubject(reading, subject, probes)
      const { identicalFaceId: _, ...match } = verified ?? {}
      assert.deepEqual(match, hit)
    }
  })
}

const tiedSamples = [
  { person: 25, take: 0, modelId: 'former@1' as const },
  { person: 0, take: 0, modelId: 'people@1' as const },
]

/** A subject whose templates of two models have equal similarities and different scores. */
const historyWithTie = {
  first: [],
  later: [{ samples: tiedSamples, groups: [] }],
  removed: [],
  regrouped: [],
  expiring: [],
  faces: [],
  queries: [
    {
      probes: tiedSamples.toReversed().map((sample) => ({ ...sample, take: 1 })),
      limit: 1,
      groups: undefined,
      excluded: undefined,
    },
  ],
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
          const byModel = new Map(templates.map((template) => [template.modelId, template]))
          await assertVerifiesAsFound(pair, [...byModel.values()], options)
          for (const { subjectId } of await inMemory.matching.search(galleryId, templates, options))
            assert.ok(!expiredIds.has(subjectId))
          await assertEqualResults((gallery) =>
            gallery.matching.countComparable(galleryId, modelIds),
          )
        }
        await assertEqualResults((gallery) => gallery.matching.formerModels(galleryId))
      }),
      { numRuns: 12, examples: [[historyWithTie]] },
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
