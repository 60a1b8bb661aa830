import assert from 'node:assert/strict'
import { deleteExpiredData } from '../../../../src/store/gallery/duplicates/subject-merges.ts'
import { mapSequential } from '../../../../src/lib/account-context.ts'
import type { MatchVerdictRow } from '../../../../src/store/gallery-schema.ts'
import { queries } from '../tracked-queries.ts'
import {
  assertSameValues,
  createProjectGallery,
  enrollSubject,
  type StoreFixture,
} from '../store-fixture.ts'

const ciphertext = Buffer.from('template')

export const matchVerdictsContract = {
  'matches are found until they end, and their verdicts, templates and subjects change': async (
    fixture: StoreFixture,
  ) => {
    const { store, project } = fixture
    const { projectId } = project
    const call = { projectId, galleryId: projectId, requestId: 'call' }
    await createProjectGallery(fixture)
    await enrollSubject(fixture, 's-1')
    await enrollSubject(fixture, 's-2')
    const match = (verdictId: string, matchedAtMs: number): MatchVerdictRow => ({
      ...call,
      verdictId,
      subjectId: 's-1',
      resultIndex: 0,
      faceIndex: Number(verdictId.at(-1)),
      modelId: 'active',
      ciphertext,
      matchedAtMs,
      expiresAtMs: matchedAtMs + 10,
      verdict: null,
    })
    const find = async (nowMs: number) => {
      const found = await store.read((tx) => queries.findMatches(tx, call, nowMs))
      return found.map(({ verdictId }) => verdictId)
    }
    const add = (rows: readonly MatchVerdictRow[]) =>
      store.write((tx) => mapSequential(rows, (row) => queries.addMatch(tx, row)))
    await add([match('m-1', 20), match('m-0', 20), match('earlier-0', 10)])
    assertSameValues(await find(29), ['m-0', 'm-1'], 'only those of the newest call')
    assertSameValues(await find(30), [])
    const flags = () =>
      store.read(async (tx) => {
        const ids = ['s-1', 's-2']
        const found = await queries.findSubjectsByIds(tx, projectId, ids)
        return ids.map((id) => found.find(({ subjectId }) => subjectId === id)?.hasDenials)
      })
    await store.write(async (tx) => {
      for (const verdictId of ['m-0', 'm-1'])
        await queries.setVerdict(tx, { ...match(verdictId, 20), verdict: 'denied' })
    })
    assertSameValues(await flags(), [1, 0])
    const denied = (ids: readonly string[]) =>
      store.read((tx) => queries.findDeniedSubjects(tx, ids))
    assertSameValues([await denied([]), await denied(['s-2', 's-1'])], [[], ['s-1']])
    assertSameValues(await find(30), ['m-0', 'm-1'], 'a decided match does not end')
    const denials = (subjectId: string) =>
      store.read(async (tx) =>
        (await queries.findDenials(tx, subjectId)).map(({ faceId }) => faceId),
      )
    assertSameValues(await denials('s-1'), ['m-0', 'm-1'])
    await store.write(async (tx) => {
      assert.equal((await queries.findMatchTemplates(tx, 's-1')).length, 3)
      await queries.replaceVerdictCiphertext(tx, { verdictId: 'm-0', ciphertext })
      await queries.moveVerdicts(tx, { to: 's-2', verdictIds: [] })
      await queries.moveVerdicts(tx, { to: 's-2', verdictIds: ['m-0'] })
    })
    assertSameValues(await denials('s-2'), ['m-0'])
    assertSameValues(await flags(), [1, 1])
    await store.write(async (tx) => {
      const ended = (nowMs: number) => deleteExpiredData(tx, 'matchVerdicts', { nowMs, limit: 5 })
      assertSameValues([await ended(19), await ended(20), await ended(99)], [0, 1, 0])
      const confirmed = { ...match('m-0', 20), subjectId: 's-2', ciphertext: null }
      await queries.setVerdict(tx, { ...confirmed, verdict: 'confirmed' })
      const marked = await queries.findSubjectsNeedingKey(tx, projectId, 5)
      assertSameValues(marked.map(({ subjectId }) => subjectId).toSorted(), ['s-1', 's-2'])
    })
    assertSameValues(await denials('s-2'), [])
    const many = Array.from({ length: queries.denialsPerSubject + 1 }, (_, index) => ({
      ...match(`many-${index}`, 100 + index),
      expiresAtMs: null,
      verdict: 'denied' as const,
    }))
    await add(many)
    const newest = many.slice(1).map(({ verdictId }) => verdictId)
    assertSameValues(await denials('s-1'), newest.toReversed(), 'the newest 20')
  },
}
