import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient } from '../../client/src/index.ts'

test('A JSON object that no route returns is not from the service', async () => {
  for (const body of [{ a: 1 }, { items: 5 }]) {
    const { me, subjects, groups, deletions, livenessSessions } = createClient({
      baseUrl: 'http://127.0.0.1:1',
      apiKey: 'k',
      fetch: async () => Response.json(body),
    })
    const calls = [
      () => me(),
      () => subjects.page(),
      () => Array.fromAsync(subjects.list()),
      () => subjects.get('a'),
      () => Array.fromAsync(groups.list()),
      () => groups.delete('a'),
      () => Array.fromAsync(deletions.list()),
      () => livenessSessions.create(),
    ]
    for (const call of calls)
      await assert.rejects(call(), { name: 'FacegateError', code: 'BAD_RESPONSE' })
  }
})
