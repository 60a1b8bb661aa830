import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import sharp from 'sharp'
import { models } from '../../../src/cli/models/commands.ts'
import { calibrationOf } from '../../../src/gallery/calibration/calibrations.ts'
import { encodeFloat16 } from '../../../src/models/template/float16.ts'
import { recognizerModelId } from '../../../src/models/model-set.ts'
import { sha256Of } from '../../../src/models/sha256.ts'
import { findModelCoverage } from '../../../src/store/gallery/model-coverage.ts'
import { l2Normalize } from '../../../src/vision/embed/create-template.ts'
import { runJson } from '../../support/cli/run-json.ts'
import { dropDatabase } from '../../support/database/engine.ts'
import { imageItem, samplePhotograph } from '../../support/facegate/test-facegate.ts'
import { linkModels, serveRealModels } from '../../support/models/serve-real-models.ts'
import type { GalleryClient } from '../../support/gallery/test-gallery.ts'
import {
  manifestOf,
  smallNetwork,
  smallRecognizer,
  writePack,
} from '../../support/models/small-network.ts'
import { evalDataFolder } from '../../support/paths.ts'

const builtinId = recognizerModelId('builtin')
const networks = path.join(evalDataFolder, 'models')

test('A gallery moves to two recognizers together and back, and every subject is found', async () => {
  const dataDir = await startDataDir()
  const packPath = await writeConstantPack(dataDir)
  await runJson(dataDir, models, `install ${packPath}`)
  const pack = { name: 'constant', modelId: `${builtinId}+constant@1` }
  const similarities = await moveThereAndBack(dataDir, pack)
  // The installed network gives every face the same vector, so the sum is the score of the built-in one.
  const [builtin = [], combined = []] = similarities
  for (const [index, similarity] of builtin.entries())
    assert.ok(
      Math.abs(similarity - (combined[index] ?? 0)) < 2e-4,
      `${builtin.join()} and ${combined.join()}`,
    )
  await dropDatabase(dataDir)
  await rm(dataDir, { recursive: true })
})

test(
  'A gallery moves to the built-in recognizer with MobileFaceNet and back',
  { skip: !existsSync(networks) && 'NOT RUN: the networks in eval-data are not installed' },
  async () => {
    const dataDir = await startDataDir()
    await runJson(dataDir, models, `install mobilefacenet --from ${networks} --accept-licence`)
    await assert.rejects(
      runJson(dataDir, models, 'use mobilefacenet'),
      /mobilefacenet\/mobilefacenet has no similarity table yet; .*evaluate verification/u,
    )
    const pack = { name: 'mobilefacenet', modelId: `${builtinId}+mobilefacenet@1` }
    await moveThereAndBack(dataDir, pack)
    await dropDatabase(dataDir)
    await rm(dataDir, { recursive: true })
  },
)

async function startDataDir(): Promise<string> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-two-recognizers-'))
  await linkModels(dataDir)
  return dataDir
}

/**
 * Enrolls with the built-in recognizer, uses both together, and returns to the built-in one.
 *
 * @returns the similarities of other pictures of the people in these three states.
 */
async function moveThereAndBack(
  dataDir: string,
  { name, modelId }: { readonly name: string; readonly modelId: string },
): Promise<number[][]> {
  const similarities: number[][] = []
  let key = ''
  await serveRealModels(dataDir, key, async ({ client, store, key: firstKey }) => {
    key = firstKey
    await client.value('svc.enroll', { ...(await imageParamsOf(1)), externalId: '1' })
    await store.db.updateTable('projects').set({ storeCrops: 1 }).execute()
    for (const photograph of [3, 5] as const) {
      const params = { ...(await imageParamsOf(photograph)), externalId: String(photograph) }
      await client.value('svc.enroll', params)
    }
    similarities.push(await similaritiesOf(client, builtinId))
  })
  const used = await runJson(dataDir, models, `use builtin+${name}`)
  assert.equal(used.recognizer, `builtin+${name}/${name}`)
  assert.deepEqual(used.formerRecognizers, ['builtin'])
  assert.equal(used.subjectsNotComparable, 3)
  await serveRealModels(dataDir, key, async ({ client, store }) => {
    const progress = () => store.read((reading) => findModelCoverage(reading, modelId))
    while ((await progress()).remakeableFaces > 0) await sleep(50)
    const { comparableFaces, waitingFaces } = await progress()
    assert.deepEqual([comparableFaces, waitingFaces], [2, 1])
    similarities.push(await similaritiesOf(client, modelId))
    const added = { ...(await imageParamsOf(1, 1600)), externalId: '1' }
    await client.value('svc.enroll', added)
    assert.equal((await progress()).notComparableSubjects, 0)
  })
  const status = await runJson(dataDir, models, 'status')
  assert.equal(status.activeModelId, modelId)
  assert.deepEqual(status.models, [
    { modelId, templates: 3, use: 'active' },
    { modelId: builtinId, templates: 3, use: 'former' },
  ])
  const back = await runJson(dataDir, models, 'use builtin')
  assert.deepEqual(back.formerRecognizers, [`builtin+${name}/${name}`])
  assert.equal(back.subjectsNotComparable, 0)
  await serveRealModels(dataDir, key, async ({ client }) => {
    similarities.push(await similaritiesOf(client, builtinId))
  })
  return similarities
}

/** Identifies the people in copies of the pictures with another size. */
async function similaritiesOf(client: GalleryClient, recognizer: string): Promise<number[]> {
  const similarities: number[] = []
  for (const photograph of [1, 3, 5] as const) {
    const params = await imageParamsOf(photograph, 1440)
    const { bestMatch, debug } = await client.value('svc.identify', params, { debug: true })
    assert.equal(bestMatch?.externalId, String(photograph))
    assert.equal(debug.providers.recognizer, recognizer)
    similarities.push(bestMatch.similarity)
  }
  return similarities
}

async function imageParamsOf(photograph: 1 | 3 | 5, width?: number): Promise<object> {
  const { bytes, contentType } = await samplePhotograph(photograph)
  const resized = width === undefined ? bytes : await sharp(bytes).resize({ width }).toBuffer()
  return { images: [imageItem({ bytes: resized, contentType })], facePolicy: 'largest' }
}

/**
 * Writes a pack whose network returns the same direction for every face. Its cohort has that direction
 * only, so its scores are 0, and the table of the built-in recognizer holds for the sum.
 */
async function writeConstantPack(dataDir: string): Promise<string> {
  const direction = l2Normalize(Float32Array.from({ length: 16 }, (_, index) => index + 1))
  const rows = encodeFloat16(direction)
  const cohort = { file: 'rows.f16', sha256: sha256Of(rows), neighbours: 1, origin: 'a test' }
  const decoding = {
    kind: 'arcface',
    dimensions: 16,
    withBuiltin: { cohort, calibration: 'table.json' },
  } as const
  const { populations, ...table } = calibrationOf(builtinId) ?? assert.fail()
  assert.ok(populations)
  return writePack(
    path.join(dataDir, 'constant'),
    manifestOf('constant', [smallRecognizer('constant', { decoding })]),
    {
      'constant.onnx': smallNetwork(16),
      'rows.f16': rows,
      'table.json': Buffer.from(JSON.stringify({ ...table, modelId: `${builtinId}+constant@1` })),
    },
  )
}
