import assert from 'node:assert/strict'
import { subscribe } from 'node:diagnostics_channel'
import type { ServerResponse } from 'node:http'
import { after, before, test } from 'node:test'
import { newId } from '../../../src/lib/ids.ts'
import { requireAccountScope } from '../../../src/lib/account-context.ts'
import { fillCalls } from '../../support/console/fill-calls.ts'
import { startConsole, type TestConsole } from '../../support/console/test-console.ts'
import { fillSubjects } from '../../support/gallery/fill-subjects.ts'

let testConsole: TestConsole
let readCount = 0
let onRead = async (): Promise<void> => {}
before(async () => {
  testConsole = await startConsole({
    wrapStore: (store) => ({
      ...store,
      read: async (job) => {
        if (requireAccountScope() !== '*') {
          readCount += 1
          await onRead()
        }
        return store.read(job)
      },
    }),
  })
})
after(() => testConsole[Symbol.asyncDispose]())

type Search = { readonly path: string; readonly headers: Readonly<Record<string, string>> }

async function countReads(search: () => Promise<unknown>): Promise<number> {
  const readsBefore = readCount
  await search()
  return readCount - readsBefore
}

/** Checks that a search reads no further step after its client left during a read. */
async function assertEnds({ path, headers }: Search, leavingRead: number): Promise<void> {
  const url = `${testConsole.url}${path}`
  const searchAgain = async () => {
    const response = await fetch(url, { headers })
    assert.equal(response.status, 200, await response.text())
  }
  const complete = await countReads(searchAgain)
  assert.ok(complete > 8, `${path}: ${complete} reads`)

  const closed = Promise.withResolvers<void>()
  subscribe('http.server.request.start', (message) => {
    const { response } = message as { readonly response: ServerResponse }
    response.once('close', () => response.writableFinished || closed.resolve())
  })
  const client = new AbortController()
  // The client leaves during a read, which ends after the server has noticed it.
  const leavesAt = readCount + leavingRead
  onRead = async () => {
    if (readCount !== leavesAt) return
    client.abort()
    await closed.promise
  }
  const reads = await countReads(async () => {
    await assert.rejects(fetch(url, { headers, signal: client.signal }))
    await closed.promise
    // Its steps would alternate with those of the other search.
    await searchAgain()
  })
  assert.equal(reads, leavingRead + complete, path)
}

test('A search of the request log ends when its client has left', async () => {
  const { owner, projectId, gallery } = testConsole
  await fillCalls(gallery.database.store, { projectId, keyId: newId(), count: 40_000 })
  const headers = { cookie: owner.cookie() }
  await assertEnds({ path: '/console/v1/log?period=30d&outcome=live', headers }, 2)
})

test('A search of subjects and its count end when their client has left, by the API and the console', async () => {
  const { owner, gallery } = testConsole
  const { project, key } = await gallery.createProjectClient({
    galleryMode: 'isolated',
    accountId:
      (await gallery.database.store.db.selectFrom('users').select('accountId').execute())[0]
        ?.accountId ?? '',
  })
  await fillSubjects(gallery, project, 45_000)
  const byKey = { 'x-api-key': key }
  const bySession = { cookie: owner.cookie() }
  const ofProject = `/console/v1/projects/${project.projectId}/subjects?q=unknown`
  for (const search of [
    { path: '/v1/subjects?q=unknown', headers: byKey },
    { path: '/v1/subjects?q=unknown&total=true', headers: byKey },
    { path: ofProject, headers: bySession },
  ])
    await assertEnds(search, 4)
})
