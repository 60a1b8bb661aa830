import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { hasDatabase } from '../../src/cli/with-store.ts'
import { readConfig } from '../../src/config.ts'
import { describeError } from '../../src/lib/observability/describe-error.ts'

test('a port that this user may not open is named with the remedy', () => {
  const failure = { code: 'EACCES', syscall: 'listen', address: '0.0.0.0', port: 80 }
  const error = Object.assign(new Error('listen EACCES: permission denied 0.0.0.0:80'), failure)
  assert.equal(describeError(error), 'this user may not open port 80; set PORT to 1024 or higher')
})

test('a folder of another user is no missing database', async (t) => {
  if (process.getuid?.() !== 0) return t.skip('only root can act as another user')
  const folder = await mkdtemp(path.join(tmpdir(), 'facegate-private-'))
  t.after(() => rm(folder, { recursive: true }))
  const dataDir = path.join(folder, 'data')
  await mkdir(dataDir, { mode: 0o700 })
  const config = readConfig({ DATA_DIR: dataDir })
  assert.equal(hasDatabase(config), false)
  const file = path.join(dataDir, 'facegate.db')
  process.seteuid?.(65534)
  try {
    assert.throws(
      () => hasDatabase(config),
      (error) => describeError(error).startsWith(`${file} cannot be accessed: the permissions`),
    )
  } finally {
    process.seteuid?.(0)
  }
})
