import assert from 'node:assert/strict'
import { chmod, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { backup, restore } from '../../src/cli/database/commands.ts'
import { runJson } from '../support/cli/run-json.ts'
import { startGate } from '../support/gate/test-gate.ts'

const skip = process.platform === 'win32' && 'Windows has no file modes'

/** Returns the permissions of a file for its group and for others; 0: there are none. */
const exposureOf = async (file: string): Promise<number> => (await stat(file)).mode & 0o077

test(
  'Only the owner can read the database, its log files, a backup and a restored copy',
  { skip },
  async () => {
    const root = await mkdtemp(path.join(tmpdir(), 'facegate-private-'))
    const [dataDir, restoredDir] = [path.join(root, 'data'), path.join(root, 'restored')]
    const copy = path.join(root, 'copy.db')
    const umask = process.umask(0)
    try {
      {
        await using _gate = await startGate({ dataDir })
        const names = ['', 'facegate.db', 'facegate.db-wal', 'facegate.db-shm', 'server.lock']
        for (const name of names) assert.equal(await exposureOf(path.join(dataDir, name)), 0, name)
        await runJson(dataDir, backup, `--to ${copy}`)
        assert.equal(await exposureOf(copy), 0)
      }
      await chmod(copy, 0o644)
      await runJson(restoredDir, restore, `--from ${copy} --deletions none`)
      for (const name of ['', 'facegate.db'])
        assert.equal(await exposureOf(path.join(restoredDir, name)), 0, name)
    } finally {
      process.umask(umask)
      await rm(root, { recursive: true, force: true })
    }
  },
)

test(
  'A server does not start on a database that others may read, and states the remedy',
  { skip },
  async () => {
    const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-private-'))
    const file = path.join(dataDir, 'facegate.db')
    const startAndStop = async (): Promise<void> => {
      await using _gate = await startGate({ dataDir })
    }
    await startAndStop()
    for (const mode of [0o640, 0o604, 0o620]) {
      await chmod(file, mode)
      const remedy = `others may read the database: run chmod 600 ${file}`
      await assert.rejects(startAndStop(), { message: remedy })
      await assert.rejects(runJson(dataDir, backup, `--to ${file}.copy`), { message: remedy })
    }
    await chmod(file, 0o600)
    await startAndStop()
    await rm(dataDir, { recursive: true, force: true })
  },
)
