import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBatcher, listStatement } from './batcher.ts'
import type { ConnectionPool, PostgresQuery, PostgresSession } from './pool.ts'

test('A statement takes 32 waiting inputs, or fewer with more than a mebibyte of text', async () => {
  const batches: { readonly index: number; readonly text: string }[][] = []
  const run: PostgresSession['run'] = async ({ values = [] }: PostgresQuery) => {
    const batch: (typeof batches)[number] = JSON.parse(String(values[0]))
    batches.push(batch)
    return { rows: batch, count: batch.length, command: 'SELECT' }
  }
  const session = { isDirect: true, run, isLost: () => false }
  const pool = { withSession: (work) => work(session as never) } as Pick<
    ConnectionPool,
    'withSession'
  >
  const runBatched = createBatcher(pool as ConnectionPool)
  const statement = listStatement<{ readonly text: string }>('select')
  const send = async (texts: readonly string[]) => {
    batches.length = 0
    const rows = await Promise.all(texts.map((text) => runBatched('name', statement, { text })))
    assert.deepEqual(
      rows.map((row) => row?.text),
      texts,
    )
    return batches.map(({ length }) => length)
  }
  const short = Array.from({ length: 34 }, (_, index) => `${index}`)
  assert.deepEqual(await send(short), [1, 32, 1])
  const half = 'a'.repeat(2 ** 19)
  assert.deepEqual(
    await send(['', half, half, half, '', half]),
    [1, 1, 1, 2, 1],
    'with names and quotes',
  )
  const large = 'a'.repeat(2 ** 21)
  assert.deepEqual(await send([large, large, '', large]), [1, 1, 1, 1])
})
