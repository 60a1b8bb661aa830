import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readConfig } from './config.ts'

test('an empty environment gives the documented defaults', () => {
  const config = readConfig({})
  assert.equal(config.PORT, 8080)
  assert.equal(config.HOST, '127.0.0.1')
  assert.equal(config.IMAGE_BYTES_MAX, 8 * 1024 * 1024)
  assert.equal(config.BODY_BYTES_MAX, 24 * 1024 * 1024)
  assert.ok(Object.isFrozen(config))
})

test('every wrong variable is named', () => {
  assert.throws(
    () => readConfig({ PORT: '99999', VISION_WORKERS: 'two', LOG_LEVEL: 'loud', HOST: '' }),
    (error: Error) =>
      ['PORT', 'VISION_WORKERS', 'LOG_LEVEL', 'HOST'].every((name) => error.message.includes(name)),
  )
})

test('a database that this version cannot use is refused, not ignored', () => {
  assert.throws(() => readConfig({ DATABASE_URL: 'postgres://db/x' }), /DATABASE_URL.*SQLite/u)
})
