import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { builtinPack } from '../../src/models/builtin/builtin-pack.ts'
import { prepareBuiltinPack } from '../../src/models/builtin/prepare-builtin-pack.ts'
import { modelsFolder } from '../support/vision/test-pipeline.ts'
import { rootDir } from '../support/paths.ts'

test('The inference runtime sends no telemetry and stores no machine id', async () => {
  const model = builtinPack.models.blazeface
  await prepareBuiltinPack({ folder: modelsFolder, models: [model] })
  const home = await mkdtemp(path.join(tmpdir(), 'facegate-home-'))
  const session = path.join(rootDir, 'src/vision/session.ts')
  const program = `
    import { openBuiltinModel } from ${JSON.stringify(session)}
    const session = await openBuiltinModel(${JSON.stringify(modelsFolder)}, ${JSON.stringify(model)})
    await session.close()`
  // Minimal environment: the runtime disables telemetry by default if it detects a test process.
  const env = { HOME: home, PATH: process.env['PATH'] }
  await promisify(execFile)(process.execPath, ['--input-type=module-typescript', '-e', program], {
    env,
  })
  assert.deepEqual(await readdir(home), [])
  await rm(home, { recursive: true })
})
