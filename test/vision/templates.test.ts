import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import sharp from 'sharp'
import { calibrationOf } from '../../src/gallery/calibration/calibrations.ts'
import { similarityOf } from '../support/vision/similarity-of.ts'
import { readTemplateModel } from '../../src/models/template/template-model.ts'
import type { FaceResult } from '../../src/vision/image-analysis.ts'
import type { Template } from '../../src/vision/embed/template.ts'
import { samplePhotograph } from '../support/facegate/test-facegate.ts'
import {
  largestFace,
  openTestPipeline,
  type TestPipeline,
} from '../support/vision/test-pipeline.ts'

let pipeline: TestPipeline
before(async () => {
  pipeline = await openTestPipeline()
})
after(() => pipeline.close())

async function templatesOf(bytes: Buffer): Promise<Template[]> {
  const { faces } = await pipeline.analyze(bytes, { templates: true })
  return faces.map(({ template }) => {
    assert.ok(template, 'every face has a template')
    return template
  })
}

function similarity(a: Template, b: Template): number {
  const calibration = calibrationOf(a.modelId)
  assert.ok(calibration)
  return similarityOf(a, b, calibration)
}

test('A face has a template only if requested; the analysis contains its model and duration', async () => {
  const photograph = (await samplePhotograph(1)).bytes
  const without = await pipeline.analyze(photograph)
  assert.equal(largestFace(without).template, undefined)
  assert.equal(without.timingsMs.embed, 0)
  const { faces, timingsMs, providers } = await pipeline.analyze(photograph, {
    templates: true,
    maxFaces: 1,
  })
  const [face] = faces
  assert.equal(faces.length, 1)
  assert.equal(face?.template?.modelId, (await readTemplateModel()).modelId)
  assert.equal(face.template.vector.length, 256)
  assert.ok(face.template.density < 0)
  assert.ok(timingsMs.align > 0 && timingsMs.embed > 0)
  assert.equal(providers['recognizer'], faces[0]?.template?.modelId, 'as in stored faces')
})

test('A context crop has the face in its centre and gives nearly the same template', async () => {
  for (const sample of [1, 3, 5] as const) {
    const { bytes } = await samplePhotograph(sample)
    const { faces } = await pipeline.analyze(bytes, { templates: true, contextCrops: true })
    assert.ok(faces.length > 0)
    for (const { contextCrop, template } of faces) {
      const again = await pipeline.analyze(Buffer.from(contextCrop ?? '', 'base64'), {
        templates: true,
        minFaceConfidence: 0.3,
        minFaceSizePx: 1,
      })
      assert.ok(again.width <= 320 && again.width === again.height)
      const offset = ({ boundingBox: { left, top, width, height } }: FaceResult): number =>
        Math.hypot(left + (width - again.width) / 2, top + (height - again.height) / 2)
      const [central] = again.faces.toSorted((a, b) => offset(a) - offset(b))
      assert.ok(central?.template && template && offset(central) < again.width / 10)
      assert.ok(similarity(template, central.template) >= 0.95)
    }
  }
})

test('The same image gives identical templates', async () => {
  const { bytes } = await samplePhotograph(2)
  const [first, again] = [await templatesOf(bytes), await templatesOf(bytes)]
  assert.deepEqual(again, first)
  for (const template of first) assert.equal(similarity(template, { ...template }), 1)
})

test('A mirrored, smaller or darker image gives nearly the same templates', async () => {
  const { bytes } = await samplePhotograph(3)
  const original = await templatesOf(bytes)
  const variants = {
    mirrored: await sharp(bytes).flop().jpeg({ quality: 95 }).toBuffer(),
    smaller: await sharp(bytes).resize({ width: 1200 }).jpeg().toBuffer(),
    darker: await sharp(bytes).modulate({ brightness: 0.8 }).jpeg().toBuffer(),
  }
  for (const [name, variant] of Object.entries(variants)) {
    const changed = await templatesOf(variant)
    assert.equal(changed.length, original.length, name)
    for (const template of original) {
      const best = Math.max(...changed.map((other) => similarity(template, other)))
      assert.ok(best >= 0.95, `${name}: ${best}`)
    }
  }
})

test('Different people in one photograph do not match', async () => {
  for (const sample of [1, 2, 4, 5] as const) {
    const templates = await templatesOf((await samplePhotograph(sample)).bytes)
    for (const [index, a] of templates.entries())
      for (const b of templates.slice(0, index))
        assert.ok(similarity(a, b) < 0.8, `sample ${sample}: ${similarity(a, b)}`)
  }
})
