import assert from 'node:assert/strict'
import { test } from 'node:test'
import { requireAccountScope } from '../../../src/lib/account-context.ts'
import { assertOk, startConsole } from '../../support/console/test-console.ts'

/** Starts a console whose reads for an account can be held. Sessions are read for all accounts. */
async function startHeldConsole() {
  let release: (() => void) | undefined
  let held: Promise<void> = Promise.resolve()
  let heldCount = 0
  const testConsole = await startConsole({
    wrapStore: (store) => ({
      ...store,
      read: async (job) => {
        if (release && requireAccountScope() !== '*') {
          heldCount += 1
          await held
        }
        return store.read(job)
      },
    }),
  })
  return {
    testConsole,
    hold: () => {
      heldCount = 0
      ;({ promise: held, resolve: release } = Promise.withResolvers<void>())
    },
    release: () => {
      release?.()
      release = undefined
    },
    heldCount: () => heldCount,
  }
}

test('Two reads of many rows run at a time for the console of an account; short reads do not wait', async () => {
  const held = await startHeldConsole()
  await using testConsole = held.testConsole
  const { owner, projectId } = testConsole
  const { keyId } = assertOk(await owner.get('/keys')).body.items[0]
  const project = `/projects/${projectId}`
  const paths = [
    '/log',
    `${project}/threshold-decisions?threshold=0.9`,
    `${project}/losses?retentionDays=1`,
    `${project}/subjects/${keyId}/visitors`,
    `${project}/groups/staff`,
    '/analytics/calls?by=key&period=30d',
    '/analytics/spend?by=key&period=30d',
    '/analytics/latency?period=30d',
    '/analytics/scores?kind=similarity&period=30d',
    '/analytics/cameras',
    '/analytics/feedback',
    '/overview',
    `/key-usage?keyIds=${keyId}`,
  ]
  const nextTurn = () => new Promise((resolve) => setImmediate(resolve))
  for (const path of paths) {
    held.hold()
    try {
      const long = Array.from({ length: 6 }, () => owner.get(path))
      while (held.heldCount() < 2) await nextTurn()
      const short = Array.from({ length: 6 }, () => owner.get('/projects'))
      while (held.heldCount() < 8) await nextTurn()
      for (let count = 0; count < 3; count++) assertOk(await owner.get('/permissions'))
      assert.equal(held.heldCount(), 8, path)
      held.release()
      for (const { status } of await Promise.all(short)) assert.equal(status, 200, path)
      for (const { status } of await Promise.all(long))
        assert.ok(status === 200 || status === 404, path)
    } finally {
      held.release()
    }
  }
})

test('A viewer with as many open reads as the queue accepts does not keep the pages from the owner', async () => {
  const held = await startHeldConsole()
  await using testConsole = held.testConsole
  const { owner } = testConsole
  const viewer = await testConsole.inviteMember('viewer')
  held.hold()
  try {
    const rejected = Promise.withResolvers<void>()
    const reads = Array.from({ length: 101 }, async () => {
      const { status } = await viewer.get('/overview')
      if (status === 503) rejected.resolve()
      return status
    })
    await rejected.promise
    const pages = ['/keys', '/log', '/audit', '/overview'].map((path) => owner.get(path))
    held.release()
    for (const page of pages) assertOk(await page)
    assert.equal((await Promise.all(reads)).filter((status) => status === 503).length, 1)
  } finally {
    held.release()
  }
})
