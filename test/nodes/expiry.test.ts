import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createKey } from '../../src/store/keys.ts'
import { clientOf } from '../facegate.ts'
import { echo } from '../gate.ts'
import { shifted, startGates } from '../nodes.ts'
import { postgresMissing } from '../postgres.ts'

const hourMs = 3_600_000

test(
  'a key expires by the clock of the database, whatever time a node thinks it is',
  { skip: postgresMissing ?? false },
  async () => {
    await using nodes = await startGates({
      of: (node) => shifted(node === 1 ? hourMs : -hourMs),
    })
    const { a: early, b: late, inside } = nodes
    const keyUntil = async (fromNowMs: number): Promise<string> => {
      const expiresAtUtc = new Date(Date.now() + fromNowMs).toISOString()
      const { projectId } = inside.project
      const wanted = { projectId, name: `for ${fromNowMs}`, permissions: ['*'], expiresAtUtc }
      return (await createKey(inside.books.store.db, wanted, new Date())).key
    }
    for (const [key, status] of [
      [await keyUntil(hourMs / 2), 200],
      [await keyUntil(-hourMs / 2), 401],
    ] as const)
      for (const { url } of [early, late])
        assert.equal((await clientOf(url, key).post(echo('still?'))).status, status)
  },
)
