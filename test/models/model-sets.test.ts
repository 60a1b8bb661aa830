import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { scorers } from '../../src/evaluation/verification/pair-scores.ts'
import { fitRecognizer } from '../../src/evaluation/calibration/fit-recognizer.ts'
import { concatenate } from '../../src/lib/density/vectors.ts'
import { writeCalibration } from '../../src/evaluation/calibration/write-calibration.ts'
import { selectModelSet } from '../../src/cli/models/models-option.ts'
import { createCalibrations } from '../../src/gallery/calibration/calibrations.ts'
import { similarityAt } from '../../src/gallery/calibration/similarity.ts'
import { similarityOf } from '../support/vision/similarity-of.ts'
import { seededRandom } from '../../src/lib/random/seeded-random.ts'
import { requireRecognizerDecoding } from '../../src/models/decoding.ts'
import { describeCoverage } from '../../src/models/select-models.ts'
import { sha256Of } from '../../src/models/sha256.ts'
import { decodeFloat16, encodeFloat16 } from '../../src/models/template/float16.ts'
import { readCohort } from '../../src/models/template/read-cohort.ts'
import { readTemplateModel } from '../../src/models/template/template-model.ts'
import { findInstalledModel, readPack } from '../../src/models/installed-packs.ts'
import { builtinSet, type ModelSet } from '../../src/models/model-set.ts'
import { readRecognizerCalibration } from '../../src/start/active-models.ts'
import { l2Normalize } from '../../src/vision/embed/create-template.ts'
import { iou, type BoundingBox } from '../../src/vision/image/geometry.ts'
import type { FaceResult, ImageAnalysis } from '../../src/vision/image-analysis.ts'
import { samplePhotograph } from '../support/facegate/test-facegate.ts'
import { skipWithoutModels, writeCataloguePack } from '../support/models/catalogue-pack.ts'
import { randomFaces } from '../support/models/random-faces.ts'
import { modelsFolder, openTestPipeline } from '../support/vision/test-pipeline.ts'
import {
  manifestOf,
  smallNetwork,
  smallRecognizer,
  writePack,
} from '../support/models/small-network.ts'

let folder: string
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'facegate-sets-'))
})
after(() => rm(folder, { recursive: true }))

async function analyzeSample(set: ModelSet, sample: 1 | 2): Promise<ImageAnalysis> {
  const pipeline = await openTestPipeline(set)
  try {
    return await pipeline.analyze((await samplePhotograph(sample)).bytes, { templates: true })
  } finally {
    await pipeline.close()
  }
}

const rectOf = ({ left, top, width, height }: BoundingBox) => ({ x: left, y: top, width, height })

/** Returns the face of `analysis` that overlaps `face` most. */
function matchingFace(face: FaceResult, analysis: ImageAnalysis): FaceResult {
  const rect = rectOf(face.boundingBox)
  const [best] = analysis.faces.toSorted(
    (a, b) => iou(rectOf(b.boundingBox), rect) - iou(rectOf(a.boundingBox), rect),
  )
  return best ?? assert.fail('no face')
}

for (const [name, pack] of Object.entries({ YuNet: 'recommended', SCRFD: 'scrfd-2.5g' }))
  test(
    `${name} finds the same faces of a photograph as the built-in detector`,
    skipWithoutModels,
    async () => {
      const { detector } = await selectModelSet(
        [await writeCataloguePack(folder, pack)],
        modelsFolder,
      )
      const builtin = await analyzeSample(builtinSet, 1)
      const actual = await analyzeSample({ ...builtinSet, detector }, 1)
      assert.equal(actual.faceCount, builtin.faceCount)
      assert.ok(builtin.faceCount >= 3)
      const overlaps: number[] = []
      for (const face of builtin.faces) {
        const same = matchingFace(face, actual)
        overlaps.push(iou(rectOf(face.boundingBox), rectOf(same.boundingBox)))
        const { noseTip } = face.landmarks
        const distance = Math.hypot(
          noseTip.x - same.landmarks.noseTip.x,
          noseTip.y - same.landmarks.noseTip.y,
        )
        assert.ok(
          distance < 0.15 * face.boundingBox.width,
          `nose tips ${distance} px from each other`,
        )
        assert.ok(Math.abs(face.qualityScore - same.qualityScore) <= 15)
      }
      assert.ok(Math.min(...overlaps) > 0.5, `IoU ${overlaps.join(', ')}`)
      const mean = overlaps.reduce((sum, overlap) => sum + overlap, 0) / overlaps.length
      assert.ok(mean > 0.65, `mean IoU ${mean}`)
      assert.match(actual.providers['detector'] ?? '', /^(?:yunet-n|scrfd-2\.5g)@1$/u)
    },
  )

test(
  'an installed recognizer distinguishes people, and a former one runs in addition',
  skipWithoutModels,
  async () => {
    const set = await selectModelSet(
      [await writeCataloguePack(folder, 'mobilefacenet')],
      modelsFolder,
    )
    const pipeline = await openTestPipeline({ ...set, formerRecognizers: ['builtin'] })
    const { bytes } = await samplePhotograph(1)
    const { modelId: builtinModelId } = await readTemplateModel()
    const previousTemplates = [builtinModelId, 'unknown@1']
    const analysis = await pipeline.analyze(bytes, { templates: true, previousTemplates })
    const again = await pipeline.analyze(bytes, { templates: true })
    await pipeline.close()
    const [first, second] = analysis.faces
    const template = first?.template ?? assert.fail()
    assert.equal(template.modelId, 'mobilefacenet@1')
    assert.equal(template.vector.length, 128)
    assert.equal(analysis.providers['recognizer'], 'mobilefacenet@1')
    assert.deepEqual(again.faces[0]?.template, template, 'the same picture has the same template')
    const otherTemplate = second?.template ?? assert.fail()
    assert.ok(scorers.raw(template, otherTemplate) < -1.4, 'different people have a low score')
    const former = first?.previousTemplates ?? assert.fail()
    assert.deepEqual(
      former.map(({ modelId }) => modelId),
      [builtinModelId],
    )
    assert.equal(again.faces[0]?.previousTemplates, undefined)
  },
)

test('The rows of a pack become a part of the cohort, and the table covers other people', async () => {
  const rows = encodeFloat16(
    concatenate(randomFaces(8, 'net@1').map(({ template }) => template.vector)),
  )
  const cohort = { file: 'rows.f16', sha256: sha256Of(rows), neighbours: 15, origin: 'generated' }
  const models = [smallRecognizer('net', { decoding: { kind: 'arcface', dimensions: 16, cohort } })]
  const packPath = path.join(folder, 'rows')
  await writePack(packPath, manifestOf('rows', models), {
    'net.onnx': smallNetwork(16),
    'rows.f16': Buffer.from(rows),
  })
  const readModel = async () => findInstalledModel(await readPack(packPath), 'net') ?? assert.fail()
  const { cohort: added } = (await readCohort(await readModel())) ?? assert.fail()
  const set = {
    modelId: 'net@1',
    set: 'generated',
    measuredOn: '2026-01-01',
    people: 120,
    pictures: 240,
  }
  const fit = fitRecognizer(randomFaces(120, 'net@1'), { ...set, added }, () => undefined)
  assert.deepEqual(fit.cohort.slice(-added.length), added)
  const { calibration } = fit
  await writeCalibration(await readModel(), {
    calibration,
    cohort: { ...fit, origin: 'generated' },
  })
  const { cohort: written } = (await readCohort(await readModel())) ?? assert.fail()
  assert.deepEqual(written, decodeFloat16(encodeFloat16(fit.cohort)))
  const table = await readRecognizerCalibration(await readModel())
  assert.equal(createCalibrations(table).sourceOf('net@1'), 'model')
  assert.equal(describeCoverage(await readModel()), undefined)
})

test('a recognizer is rejected without a similarity table and accepted after calibration', async () => {
  const models = [smallRecognizer('net')]
  const packPath = path.join(folder, 'fresh')
  await writePack(packPath, manifestOf('fresh', models), { 'net.onnx': smallNetwork(16) })
  const readModel = async () => findInstalledModel(await readPack(packPath), 'net') ?? assert.fail()
  await assert.rejects(
    readRecognizerCalibration(await readModel()),
    /^Error: fresh\/net has no similarity table yet; .* facegate models use builtin$/u,
  )
  assert.equal(await readCohort(await readModel()), undefined)

  const faces = randomFaces(120, 'net@1')
  const calibrationSet = {
    modelId: 'net@1',
    set: 'generated',
    measuredOn: '2026-01-01',
    people: 120,
    pictures: 240,
  }
  const fit = fitRecognizer(faces, calibrationSet, () => undefined)
  const files = await writeCalibration(await readModel(), {
    calibration: fit.calibration,
    cohort: fit,
  })
  assert.deepEqual(files, ['net.cohort.f16', 'net.calibration.json', 'pack.json'])

  const table = await readRecognizerCalibration(await readModel())
  assert.deepEqual(table, { ...fit.calibration, populations: undefined })
  const cohort = await readCohort(await readModel())
  assert.deepEqual([cohort?.neighbours, cohort?.cohort.length], [15, 40 * 16])
  assert.equal(createCalibrations(table).sourceOf('net@1'), 'pictures')
  assert.equal(similarityAt(table.points[2]?.score ?? 0, table), 0.7)
  const { template } = faces[0] ?? assert.fail()
  assert.equal(similarityOf(template, template, table), 1)
  const manifest = await readFile(path.join(packPath, 'pack.json'), 'utf8')
  assert.match(manifest, /^\{\s+"schema": 1,/u, 'the manifest keeps its key order')

  await writeFile(
    path.join(packPath, 'net.calibration.json'),
    JSON.stringify({ ...table, points: [] }),
  )
  await assert.rejects(
    readRecognizerCalibration(await readModel()),
    /net\.calibration\.json is not a valid calibration: points/u,
  )
  await writeFile(
    path.join(packPath, 'net.calibration.json'),
    JSON.stringify({ ...table, modelId: 'net@2' }),
  )
  await assert.rejects(
    readRecognizerCalibration(await readModel()),
    /is the calibration of net@2, not of net@1/u,
  )
  await writeFile(path.join(packPath, 'net.cohort.f16'), Buffer.alloc(32_000))
  await assert.rejects(readCohort(await readModel()), /net\.cohort\.f16 was altered/u)
  const notNumbers = Buffer.alloc(32_000, Buffer.from([0, 0x7e]))
  await writeFile(path.join(packPath, 'net.cohort.f16'), notNumbers)
  const installed = await readModel()
  const decoding = requireRecognizerDecoding(installed.model)
  assert.ok(decoding.cohort)
  const changed = { ...decoding, cohort: { ...decoding.cohort, sha256: sha256Of(notNumbers) } }
  await assert.rejects(
    readCohort({ ...installed, model: { ...installed.model, decoding: changed } }),
    /net\.cohort\.f16 must contain finite numbers only/u,
  )
})

test('a network that does not distinguish people gets no calibration', () => {
  const set = { modelId: 'net@1', set: '', measuredOn: '2026-01-01', people: 120, pictures: 240 }
  const faces = randomFaces(120, 'net@1')
  const random = seededRandom(3)
  const gauss = () => Math.sqrt(-2 * Math.log(random())) * Math.cos(2 * Math.PI * random())
  const constant = () => new Float32Array(16).fill(0.25)
  const noise = () => l2Normalize(Float32Array.from({ length: 16 }, gauss))
  const refusals = [
    [constant, /^100\.00 % of the pairs of different people reach the score of .* 0\.1: too many/u],
    [
      noise,
      /does not distinguish people: at a false-match rate of 0\.1 it matches 0\.\d{4} of the/u,
    ],
  ] as const
  for (const [output, message] of refusals) {
    const returned = faces.map((face) => {
      return { ...face, template: { ...face.template, vector: output() } }
    })
    assert.throws(() => fitRecognizer(returned, set, () => undefined), { message })
  }
})

test('--models accepts folders and single models and reports missing ones', async () => {
  const packPath = path.join(folder, 'two')
  const models = [smallRecognizer('one'), smallRecognizer('other')]
  await writePack(packPath, manifestOf('two', models), {})
  const set = await selectModelSet([`${packPath}/other`], modelsFolder)
  assert.equal(set.recognizer !== 'builtin' && set.recognizer.model.id, 'other')
  assert.equal(set.detector, 'builtin')
  assert.deepEqual(await selectModelSet(['builtin'], modelsFolder), builtinSet)
  await assert.rejects(
    selectModelSet([packPath], modelsFolder),
    /several models of the role recognizer/u,
  )
  await assert.rejects(
    selectModelSet([`${packPath}/third`], modelsFolder),
    /the pack has one, other/u,
  )
  await assert.rejects(
    selectModelSet([`${folder}/nowhere`], modelsFolder),
    /no folder with a pack\.json/u,
  )
})
