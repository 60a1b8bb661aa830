import assert from 'node:assert/strict'
import { deleteExpiredData } from '../../../../src/store/gallery/duplicates/subject-merges.ts'
import { reportVerdicts, reportedGroupsMax } from '../../../../src/gallery/feedback/feedback.ts'
import { dayMs } from '../../../../src/lib/clock.ts'
import type { MatchVerdictRow } from '../../../../src/store/gallery-schema.ts'
import { addMatches } from '../../../support/gallery/feedback.ts'
import { queries } from '../tracked-queries.ts'
import {
  assertSameValues,
  createProjectGallery,
  enrollSubject,
  nowMs,
  type StoreFixture,
} from '../store-fixture.ts'

const ciphertext = Buffer.from('template')

export const matchVerdictsContract = {
  'the newest undecided matches of a subject are kept': async (fixture: StoreFixture) => {
    const { store, project } = fixture
    const { projectId } = project
    await createProjectGallery(fixture)
    for (const subjectId of ['s-1', 's-2']) await enrollSubject(fixture, subjectId)
    const { undecidedPerSubjectMax } = queries
    const match = (index: number, subjectId = 's-1'): MatchVerdictRow => ({
      projectId,
      galleryId: projectId,
      requestId: `call-${index}`,
      verdictId: `${subjectId}-${index}`,
      subjectId,
      resultIndex: 0,
      faceIndex: 0,
      modelId: 'active',
      ciphertext,
      matchedAtMs: nowMs + index,
      expiresAtMs: nowMs + dayMs,
      verdict: null,
    })
    const count = async (subjectId: string) =>
      (await store.read((tx) => queries.findSubjectMatches(tx, subjectId))).length
    const find = (index: number) => {
      const call = { projectId, galleryId: projectId, requestId: `call-${index}` }
      return store.read((tx) => queries.findMatches(tx, call, nowMs))
    }
    await store.write(async (tx) => {
      await queries.insertMatches(tx, [match(0, 's-2')])
      await queries.insertMatches(tx, [match(1)])
      await queries.setVerdict(tx, { ...match(1), verdict: 'denied' })
      const others = Array.from({ length: undecidedPerSubjectMax }, (_, index) => match(index + 2))
      await queries.insertMatches(tx, others)
    })
    assert.equal((await find(2)).length, 1, 'the subject has exactly the limit')
    await store.write((tx) => queries.insertMatches(tx, [match(undecidedPerSubjectMax + 2)]))
    assert.equal((await find(2)).length, 0, 'one more ends the oldest one')
    assert.equal((await find(3)).length, 1)
    await store.write((tx) => deleteExpiredData(tx, 'matchVerdicts', nowMs))
    const counts = [await count('s-1'), await count('s-2'), (await find(1)).length]
    assertSameValues(counts, [undecidedPerSubjectMax + 1, 1, 1], 'verdicts do not count')
  },

  'one transaction processes subjects up to a number of matches, and at least one subject': async (
    fixture: StoreFixture,
  ) => {
    const { store, project } = fixture
    const { projectId } = project
    await createProjectGallery(fixture)
    const subjects = ['s-1', 's-2', 's-3'].map((subjectId) => ({ subjectId }))
    for (const { subjectId } of subjects) await enrollSubject(fixture, subjectId)
    const add = (subjectId: string, count: number) =>
      addMatches(store, { projectId, galleryId: projectId, subjectId }, count)
    const limited = async () =>
      (await store.read((tx) => queries.limitByMatches(tx, subjects))).map(
        ({ subjectId }) => subjectId,
      )
    assertSameValues(await limited(), ['s-1', 's-2', 's-3'], 'subjects without matches')
    await add('s-1', queries.undecidedPerSubjectMax - 1)
    await add('s-2', 1)
    assertSameValues(await limited(), ['s-1', 's-2', 's-3'], 'exactly the limit')
    await add('s-2', 2)
    assertSameValues(await limited(), ['s-1'], 'more than the limit')
    await add('s-1', 2)
    assertSameValues(await limited(), ['s-1'], 'the first subject alone has more')
  },

  'matches are found until they end, and their verdicts, templates and subjects change': async (
    fixture: StoreFixture,
  ) => {
    const { store, project } = fixture
    const { projectId } = project
    const call = { projectId, galleryId: projectId, requestId: 'call' }
    await createProjectGallery(fixture)
    for (const subjectId of ['s-0', 's-1', 's-2']) await enrollSubject(fixture, subjectId)
    const match = (verdictId: string, matchedAtMs: number): MatchVerdictRow => ({
      ...call,
      requestId: 'CALL',
      verdictId,
      subjectId: verdictId === 'm-0' ? 's-0' : 's-1',
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
      store.write((tx) => queries.insertMatches(tx, rows))
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
      await queries.moveVerdicts(tx, { from: 's-0', to: 's-1' })
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
      const stored = await queries.findSubjectMatches(tx, 's-1')
      assertSameValues(
        stored.map(({ verdictId, verdict }) => [verdictId, verdict]),
        [
          ['earlier-0', null],
          ['m-0', 'denied'],
          ['m-1', 'denied'],
        ],
      )
      const matchedIds = ['unknown', 's-0']
      await queries.moveVerdicts(tx, { from: 's-2', to: 's-1', matchedIds })
      await queries.moveVerdicts(tx, { from: 's-1', to: 's-2', matchedIds })
      const [moved] = await queries.findMatches(tx, call, 30)
      assertSameValues([moved?.verdictId, moved?.subjectId], ['m-0', 's-2'])
    })
    assertSameValues(await denials('s-2'), ['m-0'])
    assertSameValues(await flags(), [1, 1])
    await store.write(async (tx) => {
      const ended = (nowMs: number) => deleteExpiredData(tx, 'matchVerdicts', nowMs)
      assertSameValues([await ended(19), await ended(20), await ended(99)], [0, 1, 0])
      const confirmed = { ...match('m-0', 20), subjectId: 's-2', ciphertext: null }
      await queries.setVerdict(tx, { ...confirmed, verdict: 'confirmed' })
      const marked = await queries.findSubjectsNeedingKey(tx, projectId, 5)
      assertSameValues(marked.map(({ subjectId }) => subjectId).toSorted(), ['s-1', 's-2'])
    })
    assertSameValues(await denials('s-2'), [])
    assertSameValues(await flags(), [1, 0], 'the last denial of the second subject has ended')
    const hasDenials = async () =>
      Boolean((await store.read((tx) => queries.findGallery(tx, projectId)))?.hasDenials)
    assert.equal(await hasDenials(), true)
    await store.write((tx) => queries.moveVerdicts(tx, { from: 's-1', to: 's-2' }))
    assertSameValues(await flags(), [0, 1], 'a subject whose last denial moves has none')
    assert.equal(await hasDenials(), true)
    const moveBack = { from: 's-2', to: 's-1', matchedIds: ['s-1'] }
    await store.write((tx) => queries.moveVerdicts(tx, moveBack))
    const many = Array.from({ length: queries.denialsPerSubject + 1 }, (_, index) => ({
      ...match(`many-${index}`, 100 + index),
      expiresAtMs: null,
      verdict: 'denied' as const,
    }))
    await add(many)
    const all = await store.read((tx) => queries.findMatchTemplates(tx, 's-1', 'denied'))
    assertSameValues(all.length, many.length + 1, 'with m-1')
    const newest = many.slice(1).map(({ verdictId }) => verdictId)
    assertSameValues(await denials('s-1'), newest.toReversed(), 'the newest 20')
  },
  'a merge moves confirmed matches, deletes undecided ones and marks no denials': async (
    fixture: StoreFixture,
  ) => {
    const { store, project } = fixture
    const { projectId } = project
    await createProjectGallery(fixture)
    for (const subjectId of ['s-1', 's-2']) await enrollSubject(fixture, subjectId)
    const found = await store.write(async (tx) => {
      await queries.insertMatches(tx, [
        {
          ...decidedMatch(projectId, 'v-1', 's-1'),
          verdict: 'confirmed',
          ciphertext: null,
        },
      ])
      for (const [verdictId, expiresAtMs] of [
        ['v-2', 90],
        ['v-3', 0],
      ] as const) {
        const undecided = { ...decidedMatch(projectId, verdictId, 's-1'), verdict: null }
        await queries.insertMatches(tx, [{ ...undecided, expiresAtMs }])
      }
      await queries.removeUndecided(tx, 's-1')
      await queries.moveVerdicts(tx, { from: 's-1', to: 's-2' })
      return queries.findSubjectsByIds(tx, projectId, ['s-2'])
    })
    const moved = await store.read((tx) => queries.findSubjectMatches(tx, 's-2'))
    const flags = found.map(({ hasDenials }) => hasDenials)
    assertSameValues([flags, moved.map(({ verdictId }) => verdictId)], [[0], ['v-1']])
  },
  'a read counts a limited number of verdicts': async (fixture: StoreFixture) => {
    const { store, project } = fixture
    const { projectId, accountId } = project
    await createProjectGallery(fixture)
    await enrollSubject(fixture, 's-1')
    const { countedVerdicts } = queries
    const groups = Array.from({ length: 20 }, (_, index) => `group-${index}`)
    const matches = Array.from({ length: 2 * countedVerdicts + 1 }, (_, index) => ({
      ...decidedMatch(projectId, `v-${index}`, 's-1'),
      matchedAtMs: 50 + index,
    }))
    const atOnce = Array.from({ length: countedVerdicts + 2 }, (_, index) => ({
      ...decidedMatch(projectId, `w-${index}`, 's-1'),
      matchedAtMs: 5000,
    }))
    await store.write(async (tx) => {
      await queries.addGroups(tx, { galleryId: projectId, subjectId: 's-1' }, groups)
      await queries.insertMatches(tx, [...matches, ...atOnce])
    })
    const parts: number[] = []
    for (let fromMs = 0; fromMs < 9000;) {
      const period = { projectId, fromMs, toMs: 9000 }
      const { counts, endMs } = await store.read((tx) => queries.countVerdicts(tx, period))
      parts.push(counts.find(({ group }) => group === undefined)?.denied ?? 0)
      fromMs = endMs
    }
    assertSameValues(parts, [countedVerdicts, countedVerdicts, 1, countedVerdicts + 2, 0])
    const report = await reportVerdicts(store, { accountId })
    assertSameValues(
      new Set([...report.projects, ...report.groups].map(({ denied }) => denied)),
      new Set([matches.length + atOnce.length]),
    )
  },
  'verdicts are counted by project and for the groups with the most verdicts': async (
    fixture: StoreFixture,
  ) => {
    const { store, project } = fixture
    const { projectId, accountId } = project
    await createProjectGallery(fixture)
    for (const subjectId of ['s-1', 's-2']) await enrollSubject(fixture, subjectId)
    const names = Array.from({ length: reportedGroupsMax }, (_, index) => `group-${index}`)
    const group = (subjectId: string) => ({ galleryId: projectId, subjectId })
    await store.write(async (tx) => {
      await queries.addGroups(tx, group('s-1'), names)
      await queries.addGroups(tx, group('s-2'), ['zoo'])
      const rows = [
        decidedMatch(projectId, 'v-1', 's-1'),
        decidedMatch(projectId, 'v-2', 's-2'),
        { ...decidedMatch(projectId, 'v-3', 's-2'), verdict: 'confirmed' as const },
        { ...decidedMatch(projectId, 'v-4', 's-2'), verdict: null, expiresAtMs: 90 },
        { ...decidedMatch(projectId, 'v-5', 's-2'), matchedAtMs: 60 + 2 * dayMs },
      ]
      await queries.insertMatches(tx, rows)
    })
    assertSameValues(await store.read((tx) => queries.findReportedProjects(tx, { accountId })), [
      { projectId, projectName: project.name },
    ])
    const period = { projectId, fromMs: 50, toMs: 51 }
    const { counts, endMs } = await store.read((tx) => queries.countVerdicts(tx, period))
    assertSameValues(endMs, 51)
    assertSameValues(
      counts.filter(({ group }) => group === undefined),
      [{ confirmed: 1, denied: 2, group: undefined }],
    )
    const { projects, groups } = await reportVerdicts(store, { accountId, fromMs: 50, toMs: 60 })
    assertSameValues(
      projects.map(({ confirmed, denied }) => [confirmed, denied]),
      [[1, 2]],
    )
    assertSameValues([groups.length, groups[0]?.group], [reportedGroupsMax, 'zoo'])
    for (const filter of [{}, { projectId }])
      assertSameValues((await reportVerdicts(store, filter)).projects[0]?.denied, 3)
    const later = { fromMs: 61 + 2 * dayMs }
    for (const filter of [{ accountId: 'other' }, { projectId: 'other' }, later])
      assertSameValues((await reportVerdicts(store, filter)).projects.length, 0)
  },
}

/** A denied match of the time 50. */
function decidedMatch(projectId: string, verdictId: string, subjectId: string): MatchVerdictRow {
  const call = { projectId, galleryId: projectId, requestId: verdictId }
  const position = { resultIndex: 0, faceIndex: 0, modelId: 'active', ciphertext }
  const decision = { matchedAtMs: 50, expiresAtMs: null, verdict: 'denied' } as const
  return { ...call, verdictId, subjectId, ...position, ...decision }
}
