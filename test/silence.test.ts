import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { builtinPack } from '../src/models/builtin.ts'
import { preparePack } from '../src/models/prepare.ts'
import { modelsFolder } from './look.ts'

test('the runtime of the networks tells nobody of this machine, and keeps no id of it', async () => {
  const entry = builtinPack.models.blazeface
  await preparePack({ folder: modelsFolder, models: [entry] })
  const home = await mkdtemp(path.join(tmpdir(), 'facegate-home-'))
  const session = path.join(import.meta.dirname, '../src/vision/session.ts')
  const program = `
    import { openSession } from ${JSON.stringify(session)}
    const session = await openSession(${JSON.stringify(modelsFolder)}, ${JSON.stringify(entry)})
    await session.close()`
  // A home and nothing else: the runtime is silent by itself where it takes the process for a test.
  const env = { HOME: home, PATH: process.env['PATH'] }
  await promisify(execFile)(process.execPath, ['--input-type=module-typescript', '-e', program], {
    env,
  })
  assert.deepEqual(await readdir(home), [])
  await rm(home, { recursive: true })
})
