import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import { createMigratedDatabase } from '../../support/database/engine.ts'
import { postgresSkipReason } from '../../support/database/postgres-server.ts'
import { echoRequest, startGate } from '../../support/gate/test-gate.ts'
import { openDatabaseProxy } from '../../support/network/database-proxy.ts'

test(
  'A starting server does not expire the running calls of a server that lost its connection',
  { skip: postgresSkipReason ?? false },
  async () => {
    await using database = await createMigratedDatabase()
    await using proxy = await openDatabaseProxy(database.url)
    const running = Promise.withResolvers<void>()
    const resume = Promise.withResolvers<void>()
    let isOutage = false
    await using a = await startGate({
      environment: { DATABASE_URL: proxy.url, CALL_TIMEOUT_MS: '60000' },
      beforeStep: (step) => {
        if (step !== 'settle' || isOutage) return undefined
        isOutage = true
        running.resolve()
        return resume.promise
      },
    })
    // If the test fails, the call must end before the server can close.
    using _ = { [Symbol.dispose]: resume.resolve }
    const call = a.post(echoRequest('kept'))
    await running.promise
    proxy.disconnect()
    await using b = await startGate({ key: a.key, environment: { DATABASE_URL: database.url } })
    assert.equal(b.database.store.isFirstServer, false)
    proxy.reconnect()
    while ((await a.post(echoRequest('after the outage'))).status === 503) await sleep(50)
    resume.resolve()
    const { status, body } = await call
    assert.equal(status, 200, JSON.stringify(body))
    assert.equal(body.data.results[0].value.text, 'kept')
  },
)
