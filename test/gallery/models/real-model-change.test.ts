import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { models } from '../../../src/cli/models/commands.ts'
import { calibratedFmrs } from '../../../src/gallery/calibration/similarity.ts'
import { sha256Of } from '../../../src/models/sha256.ts'
import { readTemplateModel } from '../../../src/models/template/template-model.ts'
import { findModelCoverage } from '../../../src/store/gallery/model-coverage.ts'
import { runJson } from '../../support/cli/run-json.ts'
import { imageItem, samplePhotograph } from '../../support/facegate/test-facegate.ts'
import { linkModels, serveRealModels } from '../../support/models/serve-real-models.ts'
import { evalDataFolder } from '../../support/paths.ts'

const network = path.join(evalDataFolder, 'models/mobilefacenet.onnx')
const modelId = 'mobilefacenet@test'
const dimensions = 128

test(
  'After a change from the built-in recognizer to an installed one, all subjects are still found',
  { skip: !existsSync(network) && 'NOT RUN: the network in eval-data is not installed' },
  async () => {
    const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-real-models-'))
    await linkModels(dataDir)
    let key = ''
    await serveRealModels(dataDir, key, async ({ client, store, key: newKey }) => {
      key = newKey
      await client.value('svc.enroll', { ...(await imageParamsOf(1)), externalId: '1' })
      await store.db.updateTable('projects').set({ storeCrops: 1, autoEnroll: 1 }).execute()
      for (const photograph of [3, 5] as const) {
        const params = await imageParamsOf(photograph)
        await client.value('svc.enroll', { ...params, externalId: String(photograph) })
      }
    })
    await installMobileFaceNet(dataDir)
    assert.deepEqual(await runJson(dataDir, models, 'use mobile'), {
      detector: 'builtin',
      recognizer: 'mobile/mobilefacenet',
      liveness: ['builtin'],
      formerRecognizers: ['builtin'],
      subjectsNotComparable: 3,
    })
    await serveRealModels(dataDir, key, async ({ client, store }) => {
      const progress = () => store.read((reading) => findModelCoverage(reading, modelId))
      while ((await progress()).remakeableFaces > 0) await sleep(50)
      const { comparableFaces, waitingFaces } = await progress()
      assert.deepEqual([comparableFaces, waitingFaces], [2, 1])
      for (const photograph of [1, 3, 5] as const) {
        const params = await imageParamsOf(photograph)
        const found = await client.value('svc.identify', params, { debug: true })
        assert.equal(found.bestMatch.externalId, String(photograph))
        assert.ok(found.bestMatch.similarity > 0.9)
        assert.equal(found.debug.providers.formerRecognizer, (await readTemplateModel()).modelId)
      }
      const probe = { ...(await imageParamsOf(1)), externalId: '1' }
      const first = await client.value('svc.verify', probe)
      assert.ok(first.autoEnrolledFaceId)
      const next = await client.value('svc.verify', probe)
      assert.deepEqual([next.similarity, next.autoEnrolledFaceId], [1, undefined])
      assert.equal((await progress()).notComparableSubjects, 0)
    })
    const builtin = await runJson(dataDir, models, 'use builtin')
    assert.deepEqual([builtin.recognizer, builtin.subjectsNotComparable], ['builtin', 0])
    await rm(dataDir, { recursive: true })
  },
)

async function imageParamsOf(photograph: 1 | 3 | 5): Promise<object> {
  return { images: [imageItem(await samplePhotograph(photograph))], facePolicy: 'largest' }
}

/** Installs the network with a random cohort and a calibration that suit very different faces. */
async function installMobileFaceNet(dataDir: string): Promise<void> {
  const folder = path.join(dataDir, 'models', 'packs', 'mobile')
  await mkdir(folder, { recursive: true })
  const bytes = await readFile(network)
  await writeFile(path.join(folder, 'net.onnx'), bytes)
  const cohort = randomCohort(200)
  await writeFile(path.join(folder, 'cohort.f16'), cohort)
  await writeFile(path.join(folder, 'table.json'), JSON.stringify(calibration))
  const model = {
    id: 'mobilefacenet',
    version: 'test',
    role: 'recognizer',
    file: 'net.onnx',
    sha256: sha256Of(bytes),
    licence: { name: 'see its source', commercialUse: 'unclear' },
    provenance: { origin: 'eval-data', trainingData: 'not stated' },
    input: {
      width: 112,
      height: 112,
      colourOrder: 'RGB',
      mean: [127.5, 127.5, 127.5],
      scale: 1 / 127.5,
    },
    decoding: {
      kind: 'arcface',
      dimensions,
      cohort: { file: 'cohort.f16', sha256: sha256Of(cohort), neighbours: 10 },
      calibration: 'table.json',
    },
  }
  const pack = { schema: 1, name: 'mobile', description: 'for this test', models: [model] }
  await writeFile(path.join(folder, 'pack.json'), JSON.stringify(pack))
}

/** Returns random directions in half precision, which are far from every face. */
function randomCohort(rows: number): Buffer {
  const bytes = Buffer.alloc(rows * dimensions * 2)
  const view = new DataView(bytes.buffer, bytes.byteOffset)
  let state = 1
  for (let index = 0; index < rows * dimensions; index++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0
    view.setFloat16(2 * index, (state / 2 ** 31) * Math.sqrt(3 / dimensions), true)
  }
  return bytes
}

/** Cosines of 0.1 to 0.6, less the density of about −1.6 that such a cohort gives every face. */
const calibration = {
  modelId,
  set: 'chosen',
  measuredOn: '2026-01-01',
  people: 2,
  pictures: 2,
  impostorPairs: 1,
  genuinePairs: 0,
  method: 'chosen',
  points: calibratedFmrs.map((fmr, index) => ({
    fmr,
    score: -2 + 0.2 * (index + 1) + 1.6,
    source: 'counted',
  })),
  lowestScore: -3,
  identicalScore: 1.55,
}
