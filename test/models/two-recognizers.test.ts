import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { selectModelSet } from '../../src/cli/models/models-option.ts'
import { fitRecognizer } from '../../src/evaluation/calibration/fit-recognizer.ts'
import { writeCalibration } from '../../src/evaluation/calibration/write-calibration.ts'
import { scorers } from '../../src/evaluation/verification/pair-scores.ts'
import { createCalibrations } from '../../src/gallery/calibration/calibrations.ts'
import { similarityOf } from '../support/vision/similarity-of.ts'
import { findInstalledModel, readPack } from '../../src/models/installed-packs.ts'
import { combineWithBuiltin, recognizerModelId } from '../../src/models/model-set.ts'
import { describeCoverage } from '../../src/models/select-models.ts'
import { readCohort } from '../../src/models/template/read-cohort.ts'
import { readRecognizerCalibration } from '../../src/start/active-models.ts'
import { combineTemplates } from '../../src/vision/embed/combine-recognizers.ts'
import { samplePhotograph } from '../support/facegate/test-facegate.ts'
import { skipWithoutModels, writeCataloguePack } from '../support/models/catalogue-pack.ts'
import { randomFaces } from '../support/models/random-faces.ts'
import {
  manifestOf,
  smallNetwork,
  smallRecognizer,
  writePack,
} from '../support/models/small-network.ts'
import { modelsFolder, openTestPipeline } from '../support/vision/test-pipeline.ts'

let folder: string
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'facegate-two-recognizers-'))
})
after(() => rm(folder, { recursive: true }))

test(
  'Two recognizers together add the scores of both, the second one four times',
  skipWithoutModels,
  async () => {
    const packPath = await writeCataloguePack(folder, 'mobilefacenet')
    const both = await selectModelSet([`builtin+${packPath}`], modelsFolder)
    const { recognizer } = await selectModelSet([packPath], modelsFolder)
    const pipeline = await openTestPipeline({ ...both, formerRecognizers: ['builtin', recognizer] })
    const { bytes } = await samplePhotograph(1)
    const previousTemplates = ['builtin' as const, recognizer].map(recognizerModelId)
    const request = { templates: true, quickTemplates: true, previousTemplates } as const
    const { faces, providers } = await pipeline.analyze(bytes, request)
    const fast = await pipeline.analyze(bytes, { templates: 'fast', previousTemplates })
    await pipeline.close()
    assert.equal(providers['recognizer'], previousTemplates.join('+'))
    assert.equal(faces[0]?.quickTemplate?.vector.length, 128)
    for (const [first, second] of [faces, fast.faces]) {
      const [a, b] = [first?.template ?? assert.fail(), second?.template ?? assert.fail()]
      assert.equal(a.vector.length, 256 + 128)
      const [builtin = NaN, installed = NaN] = [0, 1].map((index) => {
        const [one, other] = [first, second].map((face) => face?.previousTemplates?.[index])
        return scorers.corrected(one ?? assert.fail(), other ?? assert.fail())
      })
      assert.ok(Math.abs(scorers.corrected(a, b) - builtin - 4 * installed) < 1e-5)
      assert.ok(installed < 0 && builtin < 0, 'two people')
    }
    const table = await readRecognizerCalibration(both.recognizer)
    assert.equal(createCalibrations(table).sourceOf(previousTemplates.join('+')), 'model')
    const [first, second] = faces.map(({ template }) => template ?? assert.fail())
    assert.ok(first && second)
    assert.ok(similarityOf(first, second, table) < 0.7)
    assert.equal(similarityOf(first, first, table), 1)
  },
)

test('The table of two recognizers is measured without the people of a pair in the cohort', async () => {
  const packPath = path.join(folder, 'both')
  await writePack(packPath, manifestOf('both', [smallRecognizer('net')]), {
    'net.onnx': smallNetwork(16),
  })
  const readModel = async () => findInstalledModel(await readPack(packPath), 'net') ?? assert.fail()
  const modelId = recognizerModelId(combineWithBuiltin(await readModel()))
  const calibrationSet = {
    modelId,
    set: 'generated',
    measuredOn: '2026-01-01',
    people: 120,
    pictures: 240,
  }
  const installed = randomFaces(120, modelId)
  // The built-in recognizer has the same template for all faces: each of its scores is 1.
  const builtin = { modelId, vector: new Float32Array(8), density: -1 }
  const faces = installed.map(({ person, template }) => {
    return { person, template: combineTemplates(modelId, builtin, template) }
  })
  const fit = fitRecognizer(faces, { ...calibrationSet, combinedDimensions: 16 }, () => undefined)
  const alone = fitRecognizer(installed, calibrationSet, () => undefined)
  assert.deepEqual(fit.cohort, alone.cohort, 'the cohort is that of the installed recognizer')
  for (const [index, score] of fit.heldOut.impostor.entries())
    assert.ok(Math.abs(score - 1 - 4 * (alone.heldOut.impostor[index] ?? 0)) < 1e-5)
  const files = await writeCalibration(combineWithBuiltin(await readModel()), {
    calibration: fit.calibration,
    cohort: fit,
  })
  assert.deepEqual(files, ['net.builtin.cohort.f16', 'net.builtin.calibration.json', 'pack.json'])
  await assert.rejects(readRecognizerCalibration(await readModel()), /no similarity table yet/u)
  const combined = combineWithBuiltin(await readModel())
  assert.equal((await readRecognizerCalibration(combined)).modelId, modelId)
  assert.equal((await readCohort(combined))?.cohort.length, 40 * 16)
  assert.match(describeCoverage(combined) ?? '', /^The similarities of dlib.*\+net@1 hold only/u)
})
