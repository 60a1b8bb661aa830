import assert from 'node:assert/strict'
import { readFile, readdir } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { feedbackCommands, subjectCommands } from '../../../src/cli/subject/commands.ts'
import { keyCommands, project } from '../../../src/cli/tenancy/commands.ts'
import { runAsAllAccounts } from '../../../src/lib/account-context.ts'
import { denialsPerSubject } from '../../../src/store/gallery/feedback/match-verdicts.ts'
import { createLineRunner, runJson } from '../../support/cli/run-json.ts'
import { countStatements } from '../../support/database/count-statements.ts'
import { isOnPostgres } from '../../support/database/engine.ts'
import { copyDatabase, isReadable, unwrapAllKeys } from '../../support/gallery/database-copy.ts'
import {
  denyMatch,
  enrollPerson,
  identify,
  pictureOf,
  sendFeedback,
} from '../../support/gallery/feedback.ts'
import { imageParams, startGallery, type TestGallery } from '../../support/gallery/test-gallery.ts'

const windowMs = 60_000

/** Starts a service whose default project has feedback. */
async function startWithFeedback(clock?: () => number): Promise<TestGallery> {
  const environment = { REPLAY_WINDOW_MS: String(windowMs) }
  const gallery = await startGallery({ environment, ...(clock && { clock }) })
  await runJson(gallery.dataDir, project, 'set default --feedback on')
  return gallery
}

const isMatched = async (gallery: TestGallery, name: string, fields: object = {}) =>
  (await identify(gallery, { ...pictureOf(name, 1), ...fields })).value.matched

test('Deleted templates of matches are unreadable in an older copy after the next key rotation, and denials stay', async () => {
  let nowMs = Date.now()
  await using gallery = await startWithFeedback(() => nowMs)
  const { database, dataDir, openedGallery } = gallery
  await enrollPerson(gallery, 'Ann')
  await identify(gallery, pictureOf('Ann', 1))
  nowMs += windowMs - 1
  const confirmed = (await identify(gallery, pictureOf('Ann', 2))).requestId
  await denyMatch(gallery, pictureOf('Bea', 0))
  const copy = await copyDatabase(database.store)
  assert.equal(copy.matches.length, 3, 'one that ends, one to confirm, and the denied one')
  await sendFeedback(gallery, { requestId: confirmed, verdict: 'confirm' })
  nowMs += 1
  await runAsAllAccounts(() => openedGallery.maintenance.sweep())
  assert.equal((await runJson(dataDir, keyCommands, 'rotate-master')).renewed, 1)
  const today = await copyDatabase(database.store)
  const keys = unwrapAllKeys([copy, today], path.join(dataDir, 'master.key'))
  assert.equal(today.matches.length, 1)
  for (const match of today.matches) assert.ok(isReadable(match, keys))
  for (const match of copy.matches) assert.ok(!isReadable(match, keys), 'the former ciphertext')
  assert.equal(await isMatched(gallery, 'Bea'), false)
  assert.equal(await isMatched(gallery, 'Ann'), true)
})

test('Denials are searched only in a gallery that has some, until the last one ends', async () => {
  await using gallery = await startWithFeedback()
  await enrollPerson(gallery, 'Ann')
  const countDenialSearches = async () => {
    const counter = countStatements()
    await identify(gallery, pictureOf('Ann', 1))
    const { texts } = counter.stop()
    assert.ok(texts.length > 0)
    return texts.filter((text) => text.startsWith('select "subjectId" from "subjects" where "hasD'))
      .length
  }
  assert.equal(await countDenialSearches(), 0)
  const requestId = await denyMatch(gallery, pictureOf('Bea', 0))
  assert.equal(await countDenialSearches(), 1)
  await sendFeedback(gallery, { requestId, verdict: 'confirm' })
  assert.equal(await countDenialSearches(), 0)
})

test('The denials of a merged subject apply to the other one, and return when the merge is undone', async () => {
  await using gallery = await startWithFeedback()
  const { runForJson } = createLineRunner([subjectCommands], () => gallery.dataDir)
  const source = await enrollPerson(gallery, 'Ann', { groups: ['first'], externalId: 'ann-1' })
  await denyMatch(gallery, pictureOf('Bea', 0))
  const target = await enrollPerson(gallery, 'Amy', { groups: ['second'], externalId: 'ann-2' })
  const ofSecond = { groups: ['second'] }
  assert.equal(await isMatched(gallery, 'Bea', ofSecond), true)
  const { mergeId } = await runForJson('subject merge ann-1 --into ann-2 --project default')
  assert.equal(await isMatched(gallery, 'Bea'), false, 'after the merge')
  const ownerOf = async () => {
    const { db } = gallery.database.store
    const matched = db.selectFrom('matchedSubjects as m').select('m.subjectId')
    const joined = matched.innerJoin('matchVerdicts as v', 'v.matchedId', 'm.matchedId')
    return (await joined.where('v.verdict', '=', 'denied').executeTakeFirst())?.subjectId
  }
  assert.equal(await ownerOf(), target)
  const separated = await runForJson(`subject unmerge ${mergeId} --project default`)
  assert.notEqual(separated.subjectId, source)
  assert.equal(await ownerOf(), separated.subjectId)
  assert.equal(await isMatched(gallery, 'Bea', { groups: ['first'] }), false)
  assert.equal(await isMatched(gallery, 'Bea', ofSecond), true, 'as before the merge')
})

test('Verdicts are still counted after a merge, its undo and a key rotation, and are deleted with the subject', async () => {
  await using gallery = await startWithFeedback()
  const { dataDir } = gallery
  const { runForJson } = createLineRunner([subjectCommands, feedbackCommands], () => dataDir)
  await enrollPerson(gallery, 'Ann', { groups: ['first'], externalId: 'ann-1' })
  // More than have an effect at once.
  const denials = denialsPerSubject + 1
  const requestIds: string[] = []
  for (let index = 0; index < denials; index++)
    requestIds.push((await identify(gallery, pictureOf(`Guest ${index}`, 0))).requestId)
  for (const requestId of requestIds) await sendFeedback(gallery, { requestId, verdict: 'deny' })
  const { requestId } = await identify(gallery, { ...pictureOf('Ann', 1), threshold: 0.8 })
  await sendFeedback(gallery, { requestId, verdict: 'confirm' })
  const target = await enrollPerson(gallery, 'Amy', { groups: ['second'], externalId: 'ann-2' })
  const counts = async () => {
    const { groups } = await runForJson('feedback show')
    type Row = Readonly<Record<'confirmed' | 'denied', number>> & { readonly group: string }
    return groups.map(({ group, confirmed, denied }: Row) => [group, confirmed, denied])
  }
  const all = [1, denials]
  assert.deepEqual(await counts(), [['first', ...all]])
  const { mergeId } = await runForJson('subject merge ann-1 --into ann-2 --project default')
  const merged = [
    ['first', ...all],
    ['second', ...all],
  ]
  assert.deepEqual(await counts(), merged)
  await runJson(dataDir, keyCommands, 'rotate-master')
  assert.deepEqual(await counts(), merged)
  await runForJson(`subject unmerge ${mergeId} --project default`)
  assert.deepEqual(await counts(), [['first', ...all]])
  const copy = await copyDatabase(gallery.database.store)
  const keys = unwrapAllKeys([copy], path.join(dataDir, 'master.key'))
  assert.equal(copy.matches.length, denialsPerSubject, 'one template had no effect any more')
  for (const match of copy.matches) assert.ok(isReadable(match, keys))
  assert.equal(await isMatched(gallery, 'Guest 0', { groups: ['second'] }), true)
  await gallery.value('svc.deleteSubject', { subjectId: target })
  assert.deepEqual(await counts(), [['first', ...all]])
  await runForJson('subject delete ann-1 --project default')
  assert.deepEqual(await counts(), [])
})

test('The template of a denial beyond the limit is deleted, and is unreadable in an older copy after the next key rotation', async () => {
  let nowMs = Date.now()
  await using gallery = await startWithFeedback(() => nowMs)
  const { database, dataDir } = gallery
  await enrollPerson(gallery, 'Ann')
  const requestIds: string[] = []
  for (let index = 0; index <= denialsPerSubject; index++) {
    nowMs += 1
    requestIds.push((await identify(gallery, pictureOf(`Guest ${index}`, 0))).requestId)
  }
  const [oldest, ...others] = requestIds
  assert.ok(oldest)
  for (const requestId of [oldest, ...others.slice(1)])
    await sendFeedback(gallery, { requestId, verdict: 'deny' })
  const copy = await copyDatabase(database.store)
  await sendFeedback(gallery, { requestId: others[0], verdict: 'deny' })
  const verdicts = database.store.db.selectFrom('matchVerdicts').selectAll()
  const rows = await verdicts.orderBy('matchedAtMs').execute()
  assert.deepEqual(
    rows.map(({ verdict, ciphertext }) => [verdict, ciphertext !== null]),
    rows.map((_, index) => ['denied', index > 0]),
  )
  assert.equal((await runJson(dataDir, keyCommands, 'rotate-master')).renewed, 1)
  const today = await copyDatabase(database.store)
  const keys = unwrapAllKeys([copy, today], path.join(dataDir, 'master.key'))
  for (const match of copy.matches) assert.ok(!isReadable(match, keys), 'the former ciphertext')
  for (const match of today.matches) assert.ok(isReadable(match, keys))
  const again = await sendFeedback(gallery, { requestId: oldest, verdict: 'deny' })
  const confirmed = await sendFeedback(gallery, { requestId: oldest, verdict: 'confirm' })
  assert.deepEqual([again.status, confirmed.status], [200, 200])
  assert.equal(await isMatched(gallery, `Guest ${denialsPerSubject}`), false)
})

const skip = isOnPostgres() && 'the files belong to the server of the database'

test(
  'The deletion of a subject removes its matches and near misses from the database files',
  { skip },
  async () => {
    await using gallery = await startWithFeedback()
    const { store } = gallery.database
    const subjectId = await enrollPerson(gallery, 'Ann')
    await denyMatch(gallery, pictureOf('Bea', 0))
    await identify(gallery, pictureOf('Ann', 1))
    await runJson(gallery.dataDir, project, 'set default --near-miss-crops 72')
    const missed = { deviation: 1.6, name: 'Ann' }
    const { bestMatch } = (await identify(gallery, imageParams(missed))).value
    const threshold = bestMatch.similarity + 0.03
    await identify(gallery, { ...imageParams(missed), threshold })
    const copy = await copyDatabase(store)
    assert.equal(copy.nearMisses.length, 1)
    const matches = [...copy.matches, ...copy.nearMisses]
    const countFound = async () => {
      await store.checkpoint()
      const names = (await readdir(gallery.dataDir)).filter((name) =>
        name.startsWith('facegate.db'),
      )
      const files = await Promise.all(
        names.map((name) => readFile(path.join(gallery.dataDir, name))),
      )
      return matches.filter(({ ciphertext, faceId }) =>
        files.some((file) => file.includes(Buffer.from(ciphertext)) || file.includes(faceId)),
      ).length
    }
    assert.equal(await countFound(), 4, 'the search finds stored matches and crops')
    await gallery.value('svc.deleteSubject', { subjectId })
    assert.equal(await countFound(), 0)
  },
)
