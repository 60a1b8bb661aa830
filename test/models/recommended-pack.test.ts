import assert from 'node:assert/strict'
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import recommended from '../../src/models/catalogue/recommended.json' with { type: 'json' }
import { startFacegate, type TestFacegate } from '../support/facegate/test-facegate.ts'
import {
  recommendedModels,
  vendorSamples,
  skipWithoutEvalData,
} from '../support/models/recommended-models.ts'
import { startModelsCli } from '../support/models/models-cli.ts'

test(
  'the service uses the detector of an installed pack, and its liveness check separates the samples',
  skipWithoutEvalData,
  async () => {
    await using cli = await startModelsCli()
    const pack = await recommendedFolder(path.join(cli.folder, 'small'))
    const { chosen } = await cli.json('install', pack, '--use')
    assert.deepEqual(chosen.liveness, ['small/minifasnet-v2', 'small/minifasnet-v1se'])
    await using facegate = await startFacegate({
      VISION_WORKERS: '1',
      DATA_DIR: path.dirname(cli.modelsFolder),
    })
    const live = await checkLiveness(facegate, vendorSamples.live)
    assert.deepEqual([live.decision, live.reasons], ['live', []])
    assert.ok(live.debug.providers.detector.startsWith('yunet-n@'))
    assert.equal(live.debug.providers.liveness, 'minifasnet-v2@1+minifasnet-v1se@1')
    const spoof = await checkLiveness(facegate, vendorSamples.spoof)
    assert.deepEqual([spoof.decision, spoof.live], ['spoof', false])
    const enroll = async (file: string) => {
      const image = { bytes: await readFile(file), contentType: 'image/jpeg' }
      return (await facegate.run('svc.enroll', image, { requireLiveness: true })).body
    }
    assert.equal((await enroll(vendorSamples.spoof)).errors[0].code, 'LIVENESS_FAILED')
    assert.equal((await enroll(vendorSamples.live)).ok, true)
  },
)

async function checkLiveness({ post }: TestFacegate, file: string) {
  const bytes = (await readFile(file)).toString('base64')
  const images = [{ kind: 'image', contentType: 'image/jpeg', bytes }]
  const { body } = await post({ action: 'svc.liveness', debug: true, params: { images } })
  assert.equal(body.ok, true, JSON.stringify(body))
  return body.data.results[0].value
}

/** Writes the recommended networks as a pack without downloads, for a machine without internet. */
async function recommendedFolder(folder: string): Promise<string> {
  await mkdir(folder)
  const { liveness, detector } = recommendedModels()
  assert.ok(liveness !== 'builtin')
  for (const { folder: sourceFolder, model } of [detector, ...liveness])
    await copyFile(path.join(sourceFolder, model.file), path.join(folder, model.file))
  const models = recommended.models.map((model) => ({ ...model, source: undefined, sha256: null }))
  await writeFile(
    path.join(folder, 'pack.json'),
    JSON.stringify({ ...recommended, name: 'small', models }),
  )
  return folder
}
