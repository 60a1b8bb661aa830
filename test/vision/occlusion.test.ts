import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { drawCover, coverShapes, type CoverKind } from '../../eval/occlusion/draw-cover.ts'
import { openMeshAnalyzer, type MeshAnalysis } from '../../eval/occlusion/mesh-analyzer.ts'
import {
  createDataDir,
  sharedFacegate,
  type TestFacegate,
} from '../support/facegate/test-facegate.ts'
import { closeSharedServices } from '../support/shared-service.ts'
import { samplePortrait } from '../support/facegate/sample-portrait.ts'

let facegate: TestFacegate
let portrait: Buffer
before(async () => {
  facegate = await sharedFacegate()
  portrait = await samplePortrait()
})
after(closeSharedServices)

async function valueOf(action: string, bytes: Buffer, params: object) {
  const contentType = bytes[0] === 0x89 ? 'image/png' : 'image/jpeg'
  const { body } = await facegate.run(action, { bytes, contentType }, params)
  assert.equal(body.ok, true, JSON.stringify(body.errors))
  return body.data.results[0].value
}

async function analyzeFace(bytes: Buffer) {
  const { faces } = await valueOf('svc.analyze', bytes, { minFaceConfidence: 0 })
  type WithConfidence = { confidence: number }
  return faces.toSorted((a: WithConfidence, b: WithConfidence) => b.confidence - a.confidence)[0]
}

test('An occlusion of a face is reported with its position', async () => {
  await using analyzer = await openAnalyzer()
  const meshAnalysis = await analyzer.analyzeImage(portrait)
  const parts: Partial<Record<CoverKind, 'lowerFace' | 'leftEye'>> = {
    blueMask: 'lowerFace',
    blackMask: 'lowerFace',
    redMask: 'lowerFace',
    bar: 'leftEye',
    sunglasses: 'leftEye',
  }
  const uncoveredScore = (await analyzeFace(portrait)).quality.score
  for (const [kind, part] of Object.entries(parts)) {
    const face = await analyzeFace(await coverFace(portrait, meshAnalysis, kind as CoverKind))
    assert.ok(face.reasons.includes('FACE_OCCLUDED'), face.reasons.join())
    assert.ok(face.occlusion[part] >= 0.5, kind)
    assert.ok(face.quality.components.occlusion < 70 && face.quality.score < uncoveredScore, kind)
    assert.ok(!face.reasons.includes('EYES_CLOSED') || part === 'lowerFace')
  }
})

test('svc.enroll and svc.updateSubject warn of a cover by name, and the quality of a covered face is below the advised one', async () => {
  await using analyzer = await openAnalyzer()
  const meshAnalysis = await analyzer.analyzeImage(portrait)
  const covers: Partial<Record<CoverKind, RegExp>> = {
    blackMask: /^images\[0\]: mouth and chin are covered \(a mask, a scarf or a hand\)/u,
    sunglasses: /^images\[0\]: the eyes are covered \(sunglasses, a cap or a hand\)/u,
  }
  for (const [kind, warning] of Object.entries(covers)) {
    const covered = await coverFace(portrait, meshAnalysis, kind as CoverKind)
    const enrolled = await valueOf('svc.enroll', covered, { duplicateCheck: 'off' })
    const { subjectId } = await valueOf('svc.enroll', portrait, { duplicateCheck: 'off' })
    // The same face, so `force` only admits a low similarity.
    const updated = await valueOf('svc.updateSubject', covered, { subjectId, force: true })
    for (const { warnings } of [enrolled, updated])
      for (const expected of [warning, /below 75/u])
        assert.ok(
          warnings.some((text: string) => expected.test(text)),
          warnings.join(),
        )
  }
})

async function coverFace(
  bytes: Buffer,
  analysis: MeshAnalysis | undefined,
  kind: CoverKind,
): Promise<Buffer> {
  assert.ok(analysis)
  const { points } = analysis.mesh
  const face = { points, skinColour: [205, 160, 140], random: () => 0.5 }
  return drawCover(bytes, analysis.size, coverShapes(kind, face))
}

async function openAnalyzer() {
  process.env['DATA_DIR'] = await createDataDir()
  const analyzer = await openMeshAnalyzer()
  return { ...analyzer, [Symbol.asyncDispose]: analyzer.close }
}
