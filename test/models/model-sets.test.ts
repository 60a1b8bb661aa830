import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { scorers, type PersonTemplate } from '../../src/evaluation/verification/pair-scores.ts'
import { seededRandom } from '../../src/evaluation/seeded-random.ts'
import { fitRecognizer } from '../../src/evaluation/calibration/fit-recognizer.ts'
import { writeCalibration } from '../../src/evaluation/calibration/write-calibration.ts'
import { selectModelSet } from '../../src/cli/models/models-option.ts'
import { similarityAt, similarityOf } from '../../src/gallery/calibration/similarity.ts'
import { mobilefacenet } from '../../src/models/catalogue/mobilefacenet.ts'
import { recommended } from '../../src/models/catalogue/recommended.ts'
import { scrfd25g } from '../../src/models/catalogue/scrfd-2.5g.ts'
import { readCohort } from '../../src/models/template/read-cohort.ts'
import { findInstalledModel, readPack } from '../../src/models/installed-packs.ts'
import {
  builtinSet,
  type ModelSet,
  type PackManifestInput,
} from '../../src/models/pack-manifest.ts'
import { readRecognizerCalibration } from '../../src/start/active-models.ts'
import { l2Normalize } from '../../src/vision/embed/embed.ts'
import { iou } from '../../src/vision/image/geometry.ts'
import type { BoundingBox, FaceResult, ImageAnalysis } from '../../src/vision/image-analysis.ts'
import { samplePhotograph } from '../support/facegate/test-facegate.ts'
import { modelsFolder, openTestPipeline } from '../support/vision/test-pipeline.ts'
import {
  manifestOf,
  smallNetwork,
  smallEmbedder,
  writePack,
} from '../support/models/small-network.ts'
import { evalDataFolder } from '../support/paths.ts'

const evalModels = path.join(evalDataFolder, 'models')
const skipWithoutModels = { skip: !existsSync(evalModels) && 'NOT TRIED: eval-data is not here' }

let folder: string
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'facegate-sets-'))
})
after(() => rm(folder, { recursive: true }))

/** A pack of the catalogue with those of its models whose files are at hand. */
async function packOf({ models, ...pack }: PackManifestInput): Promise<string> {
  const place = path.join(folder, pack.name)
  await mkdir(place, { recursive: true })
  const found = models.filter(({ file }) => existsSync(path.join(evalModels, file)))
  for (const { file } of found) await copyFile(path.join(evalModels, file), path.join(place, file))
  await writeFile(path.join(place, 'pack.json'), JSON.stringify({ ...pack, models: found }))
  return place
}

async function analyzeSample(set: ModelSet, sample: 1 | 2): Promise<ImageAnalysis> {
  const eye = await openTestPipeline(set)
  try {
    return await eye.analyze((await samplePhotograph(sample)).bytes, { templates: true })
  } finally {
    await eye.close()
  }
}

const rectOf = ({ left, top, width, height }: BoundingBox) => ({ x: left, y: top, width, height })

/** The face of `view` in the place of `face`. */
function matchingFace(face: FaceResult, view: ImageAnalysis): FaceResult {
  const at = rectOf(face.boundingBox)
  const [best] = view.faces.toSorted(
    (a, b) => iou(rectOf(b.boundingBox), at) - iou(rectOf(a.boundingBox), at),
  )
  return best ?? assert.fail('there is a face')
}

for (const [name, pack] of Object.entries({ YuNet: recommended, SCRFD: scrfd25g }))
  test(
    `${name} finds the faces of a photograph where the built-in detector does`,
    skipWithoutModels,
    async () => {
      const { detector } = await selectModelSet([await packOf(pack)], modelsFolder)
      const builtin = await analyzeSample(builtinSet, 1)
      const found = await analyzeSample({ ...builtinSet, detector }, 1)
      assert.equal(found.faceCount, builtin.faceCount)
      assert.ok(builtin.faceCount >= 3)
      const overlaps: number[] = []
      for (const face of builtin.faces) {
        const same = matchingFace(face, found)
        overlaps.push(iou(rectOf(face.boundingBox), rectOf(same.boundingBox)))
        const { noseTip } = face.landmarks
        const apart = Math.hypot(
          noseTip.x - same.landmarks.noseTip.x,
          noseTip.y - same.landmarks.noseTip.y,
        )
        assert.ok(apart < 0.15 * face.boundingBox.width, `noses ${apart} px apart`)
        assert.ok(Math.abs(face.qualityScore - same.qualityScore) <= 15)
      }
      assert.ok(Math.min(...overlaps) > 0.5, `IoU ${overlaps.join(', ')}`)
      const mean = overlaps.reduce((sum, overlap) => sum + overlap, 0) / overlaps.length
      assert.ok(mean > 0.65, `mean IoU ${mean}`)
      assert.match(found.providers['detector'] ?? '', /^(?:yunet-n|scrfd-2\.5g)@1$/u)
    },
  )

test(
  'an installed recognizer tells people apart, and a former one looks beside it',
  skipWithoutModels,
  async () => {
    const set = await selectModelSet([await packOf(mobilefacenet)], modelsFolder)
    const eye = await openTestPipeline({ ...set, formerRecognizers: ['builtin'] })
    const { bytes } = await samplePhotograph(1)
    const previousTemplates = ['dlib-faceres-256@1', 'unknown@1']
    const view = await eye.analyze(bytes, { templates: true, previousTemplates })
    const again = await eye.analyze(bytes, { templates: true })
    await eye.close()
    const [first, second] = view.faces
    const template = first?.template ?? assert.fail()
    assert.equal(template.modelId, 'mobilefacenet@1')
    assert.equal(template.vector.length, 128)
    assert.equal(view.providers['recognizer'], 'mobilefacenet@1')
    assert.deepEqual(again.faces[0]?.template, template, 'the same picture, the same template')
    const stranger = second?.template ?? assert.fail()
    assert.ok(scorers.raw(template, stranger) < -1.4, 'strangers lie far apart')
    const former = first?.previousTemplates ?? assert.fail()
    assert.deepEqual(
      former.map(({ modelId }) => modelId),
      ['dlib-faceres-256@1'],
    )
    assert.equal(again.faces[0]?.previousTemplates, undefined)
  },
)

test('a recognizer without a table is refused in a sentence; with one of its own it serves', async () => {
  const models = [smallEmbedder('net')]
  const place = path.join(folder, 'fresh')
  await writePack(place, manifestOf('fresh', models), { 'net.onnx': smallNetwork(16) })
  const installed = async () => findInstalledModel(await readPack(place), 'net') ?? assert.fail()
  await assert.rejects(
    readRecognizerCalibration(await installed()),
    /net@1 in .* has no calibration/u,
  )
  assert.equal(await readCohort(await installed()), undefined)

  const faces = randomFaces(120, 'net@1')
  const about = {
    modelId: 'net@1',
    set: 'made',
    measuredOn: '2026-01-01',
    people: 120,
    pictures: 240,
  }
  const fit = fitRecognizer(faces, about, () => undefined)
  const files = await writeCalibration(await installed(), {
    calibration: fit.calibration,
    cohort: fit,
  })
  assert.deepEqual(files, ['net.cohort.f16', 'net.calibration.json', 'pack.json'])

  const table = await readRecognizerCalibration(await installed())
  assert.deepEqual(table, fit.calibration)
  const cohort = await readCohort(await installed())
  assert.deepEqual([cohort?.neighbours, cohort?.cohort.length], [15, 16_000])
  assert.equal(similarityAt(table.points[2]?.score ?? 0, table), 0.7)
  const { template } = faces[0] ?? assert.fail()
  assert.equal(similarityOf(template, template, table), 1)
  const manifest = await readFile(path.join(place, 'pack.json'), 'utf8')
  assert.match(manifest, /^\{\s+"schema": 1,/u, 'the manifest keeps its order')

  await writeFile(
    path.join(place, 'net.calibration.json'),
    JSON.stringify({ ...table, points: [] }),
  )
  await assert.rejects(
    readRecognizerCalibration(await installed()),
    /net\.calibration\.json is no table .*points/u,
  )
  await writeFile(
    path.join(place, 'net.calibration.json'),
    JSON.stringify({ ...table, modelId: 'net@2' }),
  )
  await assert.rejects(
    readRecognizerCalibration(await installed()),
    /is the calibration of net@2, not of net@1/u,
  )
  await writeFile(path.join(place, 'net.cohort.f16'), Buffer.alloc(32_000))
  await assert.rejects(readCohort(await installed()), /net\.cohort\.f16 was altered/u)
})

test('--models takes folders, one model of them, and says what it does not find', async () => {
  const place = path.join(folder, 'two')
  const models = [smallEmbedder('one'), smallEmbedder('other')]
  await writePack(place, manifestOf('two', models), {})
  const chosen = await selectModelSet([`${place}/other`], modelsFolder)
  assert.equal(chosen.recognizer !== 'builtin' && chosen.recognizer.model.id, 'other')
  assert.equal(chosen.detector, 'builtin')
  assert.deepEqual(await selectModelSet(['builtin'], modelsFolder), builtinSet)
  await assert.rejects(
    selectModelSet([place], modelsFolder),
    /several models of the role recognizer/u,
  )
  await assert.rejects(selectModelSet([`${place}/third`], modelsFolder), /the pack has one, other/u)
  await assert.rejects(
    selectModelSet([`${folder}/nowhere`], modelsFolder),
    /no folder with a pack\.json/u,
  )
})

/** Two pictures each of people who lie anywhere on the sphere, as an ArcFace network has them. */
function randomFaces(people: number, modelId: string): PersonTemplate[] {
  const random = seededRandom(7)
  const gauss = () => Math.sqrt(-2 * Math.log(random())) * Math.cos(2 * Math.PI * random())
  return Array.from({ length: people }, (_, person) => {
    const middle = Array.from({ length: 16 }, gauss)
    return [0, 1].map(() => ({
      person: String(person),
      template: {
        modelId,
        vector: l2Normalize(Float32Array.from(middle, (value) => value + 0.2 * gauss())),
        density: 0,
      },
    }))
  }).flat()
}
