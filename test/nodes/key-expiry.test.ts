import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createKey } from '../../src/store/tenancy/keys.ts'
import { createTestClient } from '../support/facegate/test-facegate.ts'
import { echoRequest } from '../support/gate/test-gate.ts'
import { shiftedClock, startGateNodes } from '../support/nodes/test-nodes.ts'
import { postgresSkipReason } from '../support/database/postgres-server.ts'

const hourMs = 3_600_000

test(
  'Keys expire by the database’s clock, not by the clocks of the nodes',
  { skip: postgresSkipReason ?? false },
  async () => {
    await using nodes = await startGateNodes({
      nodeEnvironment: (node) => shiftedClock(node === 1 ? hourMs : -hourMs),
    })
    const { a, b, local } = nodes
    const createExpiringKey = async (lifetimeMs: number): Promise<string> => {
      const expiresAtUtc = new Date(Date.now() + lifetimeMs).toISOString()
      const { projectId } = local.project
      const newKey = { projectId, name: `for ${lifetimeMs}`, permissions: ['*'], expiresAtUtc }
      return (await createKey(local.database.store.db, newKey, new Date())).key
    }
    for (const [key, status] of [
      [await createExpiringKey(hourMs / 2), 200],
      [await createExpiringKey(-hourMs / 2), 401],
    ] as const)
      for (const { url } of [a, b])
        assert.equal((await createTestClient(url, key).post(echoRequest('expiry'))).status, status)
  },
)
