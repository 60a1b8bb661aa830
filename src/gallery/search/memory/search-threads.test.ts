import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openSearchThreads } from './search-threads.ts'

const drop = { kind: 'drop', galleryId: 'gallery' } as const

test('The threads start with the first request', async () => {
  const lines: string[] = []
  const log = { info: (_fields: object, line: string) => void lines.push(line), error: () => {} }
  const threads = openSearchThreads(2, log as unknown as Parameters<typeof openSearchThreads>[1])
  assert.deepEqual(lines, [])
  await Promise.all([threads.send(drop), threads.send(drop)])
  assert.deepEqual(lines, ['search threads started'])
  await threads.close()
})

test('Threads that are closed before their first request reject it', async () => {
  const threads = openSearchThreads(1, { info: () => {}, error: () => {} })
  await threads.close()
  await assert.rejects(threads.send(drop), /the search is closed/u)
})
