import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { deleteBatchMs } from '../../src/gallery/deletion/subject-deletion.ts'
import type { Store, Tx } from '../../src/store/database.ts'
import { isOnPostgres } from '../support/database/engine.ts'
import { countStatements } from '../support/database/count-statements.ts'
import { recordChanges } from '../support/database/record-changes.ts'
import { fillGroup } from '../support/gallery/fill-subjects.ts'
import { startGallery, type TestGallery } from '../support/gallery/test-gallery.ts'

const subjectsMax = isOnPostgres() ? 150 : 400

let gallery: TestGallery
/** All commits after this number of them fail. The background commits too, now and then. */
let commitsLeft = Infinity
const startMs = Date.now()
/** The time that passes at each commit. */
let msPerCommit = 0
let passedMs = 0
before(async () => {
  gallery = await startGallery({
    environment: { GROUP_DELETION_SUBJECTS_MAX: String(subjectsMax) },
    clock: () => startMs + passedMs,
    onCommit: (step) => {
      if (step === 'commit') passedMs += msPerCommit
      if (step === 'commit' && --commitsLeft < 0) throw new Error('injected at a commit')
    },
  })
})
after(() => gallery[Symbol.asyncDispose]())

async function createGroup(memberCount: number) {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  await fillGroup(gallery, client.project, memberCount)
  return client
}

type GroupClient = Awaited<ReturnType<typeof createGroup>>

const deleteMembers = (client: Pick<GroupClient, 'rest'>) =>
  client.rest('DELETE', '/v1/groups/members')

/** Returns the subjects of all deletion records, page by page. */
async function recordedSubjects(client: GroupClient): Promise<string[]> {
  const ids: string[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const { body } = await client.rest(
      'GET',
      `/v1/deletions?limit=200${cursor && `&cursor=${cursor}`}`,
    )
    for (const { subjectId } of body.items) ids.push(subjectId)
    cursor = body.nextCursor
  }
  return ids
}

test('The statements and rows of a group deletion grow linearly with the group', async () => {
  const costOf = async (memberCount: number) => {
    const client = await createGroup(memberCount)
    const counter = countStatements()
    const { body } = await deleteMembers(client)
    const { statements, rows } = counter.stop()
    assert.equal(body.deletedCount, memberCount, JSON.stringify(body))
    return { statements: statements / memberCount, rows: rows / memberCount }
  }
  const small = await costOf(subjectsMax / 5)
  const large = await costOf(subjectsMax)
  // A quadratic deletion of the larger group, which has five times the members, would need five times
  // as many per member.
  assert.ok(large.statements < small.statements * 1.5, JSON.stringify({ small, large }))
  assert.ok(large.rows < small.rows * 1.5, JSON.stringify({ small, large }))
})

test('A transaction of a group deletion deletes no further subject after the limit of its time', async () => {
  const changes: number[] = []
  const waiting = new Int32Array(new SharedArrayBuffer(4))
  /** Deletions of subjects take longer than the limit, and block the thread as on SQLite. */
  const withSlowDeletions = (tx: Tx): Tx => ({
    ...tx,
    run: async (query) => {
      const isDeletion = query.compile().sql.startsWith('delete from "subjects"')
      if (isDeletion) Atomics.wait(waiting, 0, 0, deleteBatchMs + 1)
      return tx.run(query)
    },
  })
  await using slow = await startGallery({
    wrapStore: (store) => {
      const write: Store['write'] = (job) => store.write((tx) => job(withSlowDeletions(tx)))
      return recordChanges({ ...store, write }, 'true', changes)
    },
  })
  const client = await slow.createProjectClient({ galleryMode: 'isolated' })
  await fillGroup(slow, client.project, 3)
  assert.equal((await deleteMembers(client)).body.deletedCount, 3)
  assert.deepEqual(changes, [1, 1, 1])
})

test('A group deletion that is interrupted continues when the call is repeated', async () => {
  const client = await createGroup(100)
  let deletedBefore: string[] = []
  // Commits of the background may leave none for the first members.
  for (let tries = 0; tries < 10 && deletedBefore.length === 0; tries++) {
    commitsLeft = 3
    const interrupted = await deleteMembers(client)
    commitsLeft = Infinity
    assert.ok(interrupted.status >= 500, String(interrupted.status))
    deletedBefore = await recordedSubjects(client)
  }
  assert.ok(deletedBefore.length > 0 && deletedBefore.length < 100, String(deletedBefore.length))
  const repeated = await deleteMembers(client)
  assert.equal(repeated.body.deletedCount, 100 - deletedBefore.length)
  const recorded = await recordedSubjects(client)
  assert.equal(recorded.length, 100)
  assert.equal(new Set(recorded).size, 100, 'one record per subject')
  assert.equal((await deleteMembers(client)).status, 404)
})

test('One call deletes at most GROUP_DELETION_SUBJECTS_MAX subjects and reports the rest', async () => {
  const client = await createGroup(subjectsMax + 1)
  const { body: first } = await deleteMembers(client)
  assert.equal(first.deletedCount, subjectsMax)
  assert.equal(first.records.length, subjectsMax)
  assert.equal(first.hasMore, true)
  const { body: second } = await deleteMembers(client)
  assert.equal(second.deletedCount, 1)
  assert.ok(!('hasMore' in second))
})

test('One call deletes a group for a third of CALL_TIMEOUT_MS and reports the rest', async () => {
  const client = await createGroup(50)
  msPerCommit = 6000
  const { body: first } = await deleteMembers(client)
  msPerCommit = 0
  assert.equal(first.hasMore, true)
  assert.ok(first.deletedCount > 0 && first.deletedCount < 50, String(first.deletedCount))
  const { body: second } = await deleteMembers(client)
  assert.equal(second.deletedCount, 50 - first.deletedCount)
  assert.ok(!('hasMore' in second))
})

test('Two servers or calls that delete one group delete each subject once', async () => {
  const client = await createGroup(100)
  const responses = await Promise.all([deleteMembers(client), deleteMembers(client)])
  const counts = responses.map(({ body }) => body.deletedCount ?? 0)
  assert.equal(counts[0] + counts[1], 100)
  assert.equal(new Set(await recordedSubjects(client)).size, 100)
})
