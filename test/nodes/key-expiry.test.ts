import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createKey } from '../../src/store/tenancy/keys.ts'
import { createTestClient } from '../support/facegate/test-facegate.ts'
import { echoRequest } from '../support/gate/test-gate.ts'
import { shiftedClock, startGateNodes } from '../support/nodes/test-nodes.ts'
import { postgresSkipReason } from '../support/database/postgres-server.ts'

const hourMs = 3_600_000

test(
  'a key expires by the clock of the database, whatever time a node thinks it is',
  { skip: postgresSkipReason ?? false },
  async () => {
    await using nodes = await startGateNodes({
      nodeEnvironment: (node) => shiftedClock(node === 1 ? hourMs : -hourMs),
    })
    const { a: early, b: late, local: inside } = nodes
    const keyUntil = async (fromNowMs: number): Promise<string> => {
      const expiresAtUtc = new Date(Date.now() + fromNowMs).toISOString()
      const { projectId } = inside.project
      const wanted = { projectId, name: `for ${fromNowMs}`, permissions: ['*'], expiresAtUtc }
      return (await createKey(inside.database.store.db, wanted, new Date())).key
    }
    for (const [key, status] of [
      [await keyUntil(hourMs / 2), 200],
      [await keyUntil(-hourMs / 2), 401],
    ] as const)
      for (const { url } of [early, late])
        assert.equal((await createTestClient(url, key).post(echoRequest('still?'))).status, status)
  },
)
