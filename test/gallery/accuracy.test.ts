import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { after, test } from 'node:test'
import { calibrate } from '../../src/cli/calibrate/commands.ts'
import { foldsByPerson } from '../../src/evaluation/calibration/held-out-scores.ts'
import { squaredDistance } from '../../src/lib/density/vectors.ts'
import {
  type LabelledImage,
  extractTemplates,
  findCentralFace,
  readFaceSet,
  readImage,
} from '../../src/evaluation/face-images.ts'
import { evaluateVerification } from '../../src/evaluation/verification/evaluate-verification.ts'
import { shareAbove } from '../../src/gallery/calibration/measure/sorted-scores.ts'
import { scoreAllPairs, scorers } from '../../src/evaluation/verification/pair-scores.ts'
import { calibrationOf, createCalibrations } from '../../src/gallery/calibration/calibrations.ts'
import { similarityOf } from '../support/vision/similarity-of.ts'
import { readTemplateModel } from '../../src/models/template/template-model.ts'
import type { AnalysisRequest, FaceResult } from '../../src/vision/image-analysis.ts'
import { runJson } from '../support/cli/run-json.ts'
import { fillTemplates } from '../support/gallery/fill-templates.ts'
import { startGallery } from '../support/gallery/test-gallery.ts'
import { evalDataFolder } from '../support/paths.ts'
import { createCachedVision, type CachedVision } from '../support/vision/cached-vision.ts'
import { openTestPipeline, type TestPipeline } from '../support/vision/test-pipeline.ts'

const imagesFolder = path.join(evalDataFolder, 'verification')
const skipWithoutImages = {
  skip: !existsSync(imagesFolder) && 'NOT MEASURED: eval-data is missing',
}

/** The request of `svc.identify` for images in which other people may be. */
const peopleRequest: AnalysisRequest = {
  minFaceConfidence: 0.6,
  minFaceSizePx: 20,
  countMinimums: { minFaceConfidence: 0.6, minFaceSizePx: 1, onlyIfNoFace: true },
  maxFaces: 20,
  crops: false,
  templates: true,
}

/** Opened by the first test that needs it, so that each picture is analyzed once. */
let opened: Promise<{ readonly pipeline: TestPipeline; readonly vision: CachedVision }> | undefined

function openVision(): NonNullable<typeof opened> {
  opened ??= openTestPipeline().then((pipeline) => ({
    pipeline,
    vision: createCachedVision(pipeline),
  }))
  return opened
}
after(async () => (await opened)?.pipeline.close())

test(
  'The pairs of eval-data are classified, and no row of the cohort is close to a real face',
  skipWithoutImages,
  async (t) => {
    const { vision } = await openVision()
    const set = await readFaceSet(imagesFolder)
    const extracted = await extractTemplates(
      set.images,
      (image) => vision.analyze(image, peopleRequest),
      (done, total) => done % 200 === 0 && t.diagnostic(`${done} of ${total} pictures`),
    )
    const { report } = evaluateVerification(set, extracted, { calibration: undefined })
    assert.deepEqual(report.unusable, [])
    const { pairs } = report.corrected
    // Three pairs are mislabelled. The templates reach 0.9883.
    assert.ok(pairs && pairs.accuracy >= 0.988, `accuracy ${pairs?.accuracy}`)

    const { cohort, modelId } = await readTemplateModel()
    const calibration = calibrationOf(modelId)
    assert.ok(calibration)
    const templates = extracted.flatMap((result) => ('vector' in result ? [result] : []))
    const matches = (isSame: boolean, threshold: number) =>
      (set.pairs ?? []).filter(({ a, b, same }) => {
        const [left, right] = [templates[a], templates[b]]
        if (same !== isSame || !left || !right) return false
        return similarityOf(left, right, calibration) >= threshold
      }).length
    assert.ok(matches(false, 0.7) <= 1, `${matches(false, 0.7)} false matches at 0.70`)
    assert.equal(matches(false, 0.8), 0)
    // Of the 300 pairs of one person, 263 reach 0.80.
    assert.ok(matches(true, 0.8) >= 258, `${matches(true, 0.8)} matches at 0.80`)

    for (let row = 0; row < cohort.length; row += 256) {
      const vector = cohort.subarray(row, row + 256)
      for (const template of templates)
        assert.ok(squaredDistance(vector, template.vector) > 0.9, 'a cohort row is not a real face')
    }
    assert.equal(templates[0]?.modelId, modelId)
  },
)

async function imageParamsOf({ file }: LabelledImage): Promise<object> {
  return { images: [{ kind: 'image', ...(await readImage(file)) }], minFaceSize: 20 }
}

async function peopleWithTwoImages(): Promise<[LabelledImage, LabelledImage][]> {
  const { images } = await readFaceSet(path.join(imagesFolder, 'images'))
  return Object.values(Object.groupBy(images, ({ person }) => person)).flatMap(
    ([first, second] = []) => (first && second ? [[first, second]] : []),
  )
}

type IdentifiedFace = FaceResult & {
  readonly candidates: readonly { readonly externalId: string; readonly similarity: number }[]
}

test(
  'At least 97 % of people enrolled with one image are found with another, with and without a group filter',
  skipWithoutImages,
  async (t) => {
    const { vision } = await openVision()
    const calibration = calibrationOf((await readTemplateModel()).modelId)
    assert.ok(calibration)
    await using gallery = await startGallery({
      vision,
      calibrations: createCalibrations(calibration),
    })
    const people = await peopleWithTwoImages()
    for (const [image] of people) {
      const params = { ...(await imageParamsOf(image)), facePolicy: 'largest', minQuality: 0 }
      const subject = { externalId: image.person, groups: ['enrolled'] }
      await gallery.value('svc.enroll', { ...params, ...subject })
    }
    for (const filter of [{}, { groups: ['enrolled'] }]) {
      let [correctByCenter, correctByLargest] = [0, 0]
      for (const [{ person }, image] of people) {
        const params = { ...(await imageParamsOf(image)), threshold: 0.5, maxFaces: 20 }
        const value = await gallery.value('svc.identify', { ...params, ...filter })
        const faces: readonly IdentifiedFace[] = value.faces
        // The set names the person nearest to the centre of an image. In three of its 163 probes
        // another face is larger. The service prefers the largest face: both rates are reported.
        const central = findCentralFace({ ...value.image, faces })
        const isCorrect = ({ candidates: [best] }: IdentifiedFace): boolean =>
          best?.externalId === person
        if (faces.some((face) => face === central && isCorrect(face))) correctByCenter++
        if (faces.slice(0, 1).some(isCorrect)) correctByLargest++
        for (const { similarity } of faces.flatMap(({ candidates }) => candidates))
          assert.ok(similarity >= value.threshold)
      }
      const total = people.length
      t.diagnostic(
        `rank-1: ${correctByCenter} of ${total} by center face, ${correctByLargest} by largest face`,
      )
      assert.ok(correctByCenter / total >= 0.97, `${correctByCenter} of ${total}`)
    }
  },
)

test(
  'A gallery of half of the people predicts the false-match rates of the other half',
  skipWithoutImages,
  async (t) => {
    const { vision } = await openVision()
    const set = await readFaceSet(imagesFolder)
    const extracted = await extractTemplates(
      set.images,
      (image) => vision.analyze(image, peopleRequest),
      () => undefined,
    )
    const samples = set.images.flatMap(({ person }, index) => {
      const template = extracted[index]
      return template && 'vector' in template ? [{ person, template }] : []
    })
    const [half = [], otherHalf = []] = foldsByPerson(samples, 2, 1)
    await using gallery = await startGallery({ vision })
    const { project } = await gallery.createProjectClient({ galleryMode: 'isolated' })
    const { projectId } = project
    const people = Object.groupBy(half, ({ person }) => person)
    const subjects = Object.entries(people).map(([externalId, ofPerson = []]) => ({
      externalId,
      templates: ofPerson.map(({ template }) => template),
    }))
    await fillTemplates(gallery, project, subjects)
    const report = await runJson(gallery.dataDir, calibrate, `--project ${projectId}`)
    assert.equal(report.templates, half.length)
    const { impostor } = scoreAllPairs(otherHalf, scorers.corrected)
    for (const { fmr, score } of report.points.slice(1, 3)) {
      const measured = shareAbove(impostor, score)
      t.diagnostic(`${fmr} predicted, ${measured.toExponential(2)} in the other half`)
      assert.ok(measured > fmr / 2 && measured < fmr * 2, `${measured} instead of ${fmr}`)
    }
  },
)
