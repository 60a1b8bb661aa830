import assert from 'node:assert/strict'
import { subscribe } from 'node:diagnostics_channel'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { newId } from '../../../src/lib/ids.ts'
import { requireAccountScope } from '../../../src/lib/account-context.ts'
import { fillCalls } from '../../support/console/fill-calls.ts'
import { assertOk, startConsole } from '../../support/console/test-console.ts'

test('A search of the request log ends when its client has left', async () => {
  let readCount = 0
  let onRead = async (): Promise<void> => {}
  await using testConsole = await startConsole({
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
  const { owner, url, projectId, gallery } = testConsole
  const keyId = newId()
  await fillCalls(gallery.database.store, { projectId, keyId, count: 40_000 })
  const path = '/log?period=30d&outcome=live'
  const countReads = async (search: () => Promise<unknown>) => {
    const before = readCount
    await search()
    return readCount - before
  }
  const complete = await countReads(async () => assertOk(await owner.get(path)))
  assert.ok(complete > 8, `${complete} reads`)

  const closed = Promise.withResolvers<void>()
  subscribe('http.server.request.start', (message) => {
    const { response } = message as { readonly response: ServerResponse }
    response.once('close', () => response.writableFinished || closed.resolve())
  })
  const client = new AbortController()
  // The client leaves during the second read, which ends after the server has noticed it.
  const leavesAt = readCount + 2
  onRead = async () => {
    if (readCount !== leavesAt) return
    client.abort()
    await closed.promise
  }
  const options = { headers: { cookie: owner.cookie() }, signal: client.signal }
  const reads = await countReads(async () => {
    await assert.rejects(fetch(`${url}/console/v1${path}`, options))
    await closed.promise
    // Its steps would alternate with those of the other search.
    assertOk(await owner.get(path))
  })
  assert.equal(reads, 2 + complete)
})
