import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { undecidedPerSubjectMax } from '../../../src/store/gallery/feedback/match-verdicts.ts'
import { addMatches } from '../../support/gallery/feedback.ts'
import { imageParams } from '../../support/gallery/test-gallery.ts'
import { assertOk, startConsole } from '../../support/console/test-console.ts'

test('A request deletes the first of its subjects if all have too many matches for one transaction', async () => {
  await using testConsole = await startConsole()
  const { owner, gallery, projectId } = testConsole
  const { store } = gallery.database
  const enroll = async (name: string): Promise<string> =>
    (await gallery.value('svc.enroll', imageParams(name))).subjectId
  const [full, next, gone] = [await enroll('Finn'), await enroll('Fay'), randomUUID()]
  const { galleryId } = await store.db
    .selectFrom('subjects')
    .select('galleryId')
    .where('subjectId', '=', full)
    .executeTakeFirstOrThrow()
  await addMatches(store, { projectId, galleryId, subjectId: full }, undecidedPerSubjectMax)
  await addMatches(store, { projectId, galleryId, subjectId: next }, 1)

  const path = `/projects/${projectId}/subjects/delete`
  const all = { subjectIds: [gone, full, next], confirm: 'delete 3 subjects' }
  const { records, unknownIds } = assertOk(await owner.send('POST', path, all)).body
  assert.deepEqual(unknownIds, [gone])
  assert.deepEqual(
    records.map(({ subjectId }: { subjectId: string }) => subjectId),
    [full],
  )
  const rest = { subjectIds: [next], confirm: 'delete 1 subject' }
  assert.equal(assertOk(await owner.send('POST', path, rest)).body.records.length, 1)
})
