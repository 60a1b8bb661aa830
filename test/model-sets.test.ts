import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { scorers, type Face } from '../eval/compare/scores.ts'
import { seededRandom } from '../eval/fit/random.ts'
import { fitRecognizer } from '../eval/fit/recognizer.ts'
import { writeCalibration } from '../src/cli/calibrate-pack.ts'
import { chosenSet } from '../src/cli/models-option.ts'
import { similarityAt, similarityOf } from '../src/gallery/similarity.ts'
import { mobilefacenet } from '../src/models/catalogue/mobilefacenet.ts'
import { recommended } from '../src/models/catalogue/recommended.ts'
import { scrfd25g } from '../src/models/catalogue/scrfd-2.5g.ts'
import { readCohort } from '../src/models/cohort.ts'
import { modelOf, readPack } from '../src/models/installed.ts'
import { builtinSet, type ModelSet, type PackInput } from '../src/models/pack.ts'
import { calibrationFor } from '../src/models-in-use.ts'
import { normalized } from '../src/vision/describe.ts'
import { iou } from '../src/vision/geometry.ts'
import type { Box, SeenFace, View } from '../src/vision/view.ts'
import { samplePhotograph } from './facegate.ts'
import { modelsFolder, openEye } from './look.ts'
import { manifestOf, smallNetwork, smallRecognizer, writePack } from './small-network.ts'

const evalModels = path.join(import.meta.dirname, '../../shared/eval-data/models')
const withModels = { skip: !existsSync(evalModels) && 'NOT TRIED: eval-data is not here' }

let folder: string
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'facegate-sets-'))
})
after(() => rm(folder, { recursive: true }))

/** A pack of the catalogue with those of its models whose files are at hand. */
async function packOf({ models, ...pack }: PackInput): Promise<string> {
  const place = path.join(folder, pack.name)
  await mkdir(place, { recursive: true })
  const found = models.filter(({ file }) => existsSync(path.join(evalModels, file)))
  for (const { file } of found) await copyFile(path.join(evalModels, file), path.join(place, file))
  await writeFile(path.join(place, 'pack.json'), JSON.stringify({ ...pack, models: found }))
  return place
}

async function seen(set: ModelSet, sample: 1 | 2): Promise<View> {
  const eye = await openEye(set)
  try {
    return await eye.look((await samplePhotograph(sample)).bytes, { templates: true })
  } finally {
    await eye.close()
  }
}

const rectOf = ({ left, top, width, height }: Box) => ({ x: left, y: top, width, height })

/** The face of `view` in the place of `face`. */
function sameFace(face: SeenFace, view: View): SeenFace {
  const at = rectOf(face.boundingBox)
  const [best] = view.faces.toSorted(
    (a, b) => iou(rectOf(b.boundingBox), at) - iou(rectOf(a.boundingBox), at),
  )
  return best ?? assert.fail('there is a face')
}

for (const [name, pack] of Object.entries({ YuNet: recommended, SCRFD: scrfd25g }))
  test(
    `${name} finds the faces of a photograph where the built-in detector does`,
    withModels,
    async () => {
      const { detector } = await chosenSet([await packOf(pack)], modelsFolder)
      const builtin = await seen(builtinSet, 1)
      const found = await seen({ ...builtinSet, detector }, 1)
      assert.equal(found.faceCount, builtin.faceCount)
      assert.ok(builtin.faceCount >= 3)
      const overlaps: number[] = []
      for (const face of builtin.faces) {
        const same = sameFace(face, found)
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
  withModels,
  async () => {
    const set = await chosenSet([await packOf(mobilefacenet)], modelsFolder)
    const eye = await openEye({ ...set, formerRecognizers: ['builtin'] })
    const { bytes } = await samplePhotograph(1)
    const formerTemplates = ['dlib-faceres-256@1', 'unknown@1']
    const view = await eye.look(bytes, { templates: true, formerTemplates })
    const again = await eye.look(bytes, { templates: true })
    await eye.close()
    const [first, second] = view.faces
    const template = first?.template ?? assert.fail()
    assert.equal(template.modelId, 'mobilefacenet@1')
    assert.equal(template.vector.length, 128)
    assert.equal(view.providers['recognizer'], 'mobilefacenet@1')
    assert.deepEqual(again.faces[0]?.template, template, 'the same picture, the same template')
    const stranger = second?.template ?? assert.fail()
    assert.ok(scorers.raw(template, stranger) < -1.4, 'strangers lie far apart')
    const former = first?.formerTemplates ?? assert.fail()
    assert.deepEqual(
      former.map(({ modelId }) => modelId),
      ['dlib-faceres-256@1'],
    )
    assert.equal(again.faces[0]?.formerTemplates, undefined)
  },
)

test('a recognizer without a table is refused in a sentence; with one of its own it serves', async () => {
  const models = [smallRecognizer('net')]
  const place = path.join(folder, 'fresh')
  await writePack(place, manifestOf('fresh', models), { 'net.onnx': smallNetwork(16) })
  const installed = async () => modelOf(await readPack(place), 'net') ?? assert.fail()
  await assert.rejects(
    calibrationFor(await installed()),
    /net@1 of .* has no table of similarities/u,
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
  const files = await writeCalibration(await installed(), { table: fit.table, cohort: fit })
  assert.deepEqual(files, ['net.cohort.f16', 'net.calibration.json', 'pack.json'])

  const table = await calibrationFor(await installed())
  assert.deepEqual(table, fit.table)
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
    calibrationFor(await installed()),
    /net\.calibration\.json is no table .*points/u,
  )
  await writeFile(
    path.join(place, 'net.calibration.json'),
    JSON.stringify({ ...table, modelId: 'net@2' }),
  )
  await assert.rejects(calibrationFor(await installed()), /is the table of net@2, not of net@1/u)
  await writeFile(path.join(place, 'net.cohort.f16'), Buffer.alloc(32_000))
  await assert.rejects(readCohort(await installed()), /net\.cohort\.f16 was altered/u)
})

test('--models takes folders, one model of them, and says what it does not find', async () => {
  const place = path.join(folder, 'two')
  const models = [smallRecognizer('one'), smallRecognizer('other')]
  await writePack(place, manifestOf('two', models), {})
  const chosen = await chosenSet([`${place}/other`], modelsFolder)
  assert.equal(chosen.recognizer !== 'builtin' && chosen.recognizer.model.id, 'other')
  assert.equal(chosen.detector, 'builtin')
  assert.deepEqual(await chosenSet(['builtin'], modelsFolder), builtinSet)
  await assert.rejects(chosenSet([place], modelsFolder), /several of the role recognizer/u)
  await assert.rejects(chosenSet([`${place}/third`], modelsFolder), /the pack has one, other/u)
  await assert.rejects(
    chosenSet([`${folder}/nowhere`], modelsFolder),
    /no folder with a pack\.json/u,
  )
})

/** Two pictures each of people who lie anywhere on the sphere, as an ArcFace network has them. */
function randomFaces(people: number, modelId: string): Face[] {
  const random = seededRandom(7)
  const gauss = () => Math.sqrt(-2 * Math.log(random())) * Math.cos(2 * Math.PI * random())
  return Array.from({ length: people }, (_, person) => {
    const middle = Array.from({ length: 16 }, gauss)
    return [0, 1].map(() => ({
      person: String(person),
      template: {
        modelId,
        vector: normalized(Float32Array.from(middle, (value) => value + 0.2 * gauss())),
        density: 0,
      },
    }))
  }).flat()
}
