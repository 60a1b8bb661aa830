import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { openDatabase } from '../../src/start/open-database.ts'
import { readConfig } from '../../src/config.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { createLog } from '../../src/lib/log.ts'
import { forkGate } from '../support/gate/fork-gate.ts'
import { echoRequest, callLogRows, startGate } from '../support/gate/test-gate.ts'

test('A second server on a data folder fails at once with an error that names the first', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-lock-'))
  const first = await forkGate(dataDir)
  const config = readConfig({ DATA_DIR: dataDir })
  const second = openDatabase(config, { clock: systemClock, log: createLog('silent') })
  await assert.rejects(second, new RegExp(`another server, process ${first.process.pid} `, 'u'))
  assert.equal((await first.post(echoRequest('still here'))).body.ok, true)

  // The lock ends with the killed process. The file with its id remains, and a new server starts.
  first.process.kill('SIGKILL')
  await first.exited
  assert.match(
    await readFile(path.join(dataDir, 'server.pid'), 'utf8'),
    new RegExp(`^${first.process.pid} `, 'u'),
  )
  await using next = await startGate({ dataDir, key: first.key })
  assert.equal((await next.post(echoRequest('and again'))).body.ok, true)
  assert.equal((await callLogRows(next)).length, 2)
  await rm(dataDir, { recursive: true, force: true })
})

test('A damaged lock file is not reported as another server', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-lock-'))
  await writeFile(path.join(dataDir, 'server.lock'), 'no database '.repeat(100))
  const config = readConfig({ DATA_DIR: dataDir })
  const opened = openDatabase(config, { clock: systemClock, log: createLog('silent') })
  await assert.rejects(opened, /server\.lock cannot be locked: .*file is not a database/u)
  await rm(dataDir, { recursive: true, force: true })
})
