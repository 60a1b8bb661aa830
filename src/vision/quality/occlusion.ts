import { type Mesh, type MeshRegion, meshRegions } from '../landmarks/mesh.ts'
import type { Occlusion } from './face-quality.ts'
import { mergePatches, measurePatch, type PatchStats } from './luma.ts'

/**
 * Estimates the probability that the eyes or the lower face are covered. From 0.5 on they count as
 * covered.
 *
 * Uses two logistic regressions. Their inputs are the differences between a part and the skin of the
 * rest of the face (brightness, colour, contrast, fineness) and the face score of the mesh network.
 * `eval/fit-occlusion.ts` fits them on press photographs, with and without drawn masks, bars, dark
 * glasses and hands. Results for people outside the training set (docs/recognition/quality.md):
 *
 * - coloured masks, bars and sunglasses are detected
 * - a hand in the colour of the face is often detected
 * - a hand over one eye is mostly not detected
 */
export function estimateOcclusion(mesh: Mesh): Occlusion {
  const { eyes, lowerFace } = occlusionEvidence(mesh)
  const [leftEye, rightEye] = eyes.map((evidence) => probability(evidence, weights.eye))
  return {
    leftEye: leftEye ?? 0,
    rightEye: rightEye ?? 0,
    lowerFace: probability(lowerFace, weights.lowerFace),
  }
}

/** The inputs of the regressions, in the order of their coefficients. */
export type OcclusionEvidence = ReturnType<typeof occlusionEvidence>

export function occlusionEvidence(mesh: Mesh) {
  const patchOf = (name: MeshRegion): PatchStats =>
    measurePatch(
      mesh.crop,
      meshRegions[name].map((index) => mesh.cropPoints[index] ?? { x: 0, y: 0 }),
    )
  const face = {
    nose: patchOf('nose'),
    bridge: patchOf('bridge'),
    lips: patchOf('lips'),
    mouth: patchOf('mouth'),
    chin: patchOf('chin'),
    forehead: patchOf('forehead'),
  }
  const skin = mergePatches(patchOf('leftCheek'), patchOf('rightCheek'), face.nose)
  const faceLogit = logit(mesh.faceScore)
  return {
    /** Left eye, right eye. */
    eyes: [
      [...eyeOcclusionEvidence(patchOf('leftEye'), patchOf('leftOpening'), skin), faceLogit],
      [...eyeOcclusionEvidence(patchOf('rightEye'), patchOf('rightOpening'), skin), faceLogit],
    ],
    lowerFace: [...lowerFaceOcclusionEvidence(face), faceLogit],
  }
}

/** @param skin of cheeks and nose. */
function eyeOcclusionEvidence(eye: PatchStats, opening: PatchStats, skin: PatchStats): number[] {
  const brightness = logRatio(eye.luma, skin.luma, 10)
  return [
    brightness,
    brightness ** 2,
    chromaDistance(eye, skin),
    logRatio(eye.gradient, skin.gradient, 2),
    logRatio(eye.deviation, skin.deviation, 2),
    logRatio(opening.luma, eye.luma, 10),
    logRatio(opening.gradient, skin.gradient, 2),
    logRatio(opening.deviation, skin.deviation, 2),
  ]
}

type LowerFacePatches = Readonly<
  Record<'nose' | 'bridge' | 'lips' | 'mouth' | 'chin' | 'forehead', PatchStats>
>

/** Compares the lower face with forehead and bridge, which a mask does not cover. */
function lowerFaceOcclusionEvidence({
  nose,
  bridge,
  lips,
  mouth,
  chin,
  forehead,
}: LowerFacePatches): number[] {
  const skin = mergePatches(forehead, bridge)
  const mouthBrightness = logRatio(mouth.luma, skin.luma, 10)
  const noseBrightness = logRatio(nose.luma, skin.luma, 10)
  return [
    mouthBrightness,
    mouthBrightness ** 2,
    chromaDistance(mouth, skin),
    chromaDistance(chin, skin),
    chromaDistance(nose, skin),
    noseBrightness,
    noseBrightness ** 2,
    (lips.redness - mouth.redness) / 10,
    logRatio(lips.gradient, skin.gradient, 2),
    logRatio(lips.deviation, skin.deviation, 2),
    logRatio(mouth.gradient, skin.gradient, 2),
    logRatio(nose.deviation, skin.deviation, 2),
    logRatio(nose.gradient, skin.gradient, 2),
    // The sign is dropped: lips are lighter than the skin of dark faces. With the sign, false alarms
    // affected mainly dark faces (2.9 % of the darkest quarter, 0.5 % of the others).
    Math.abs(logRatio(lips.luma, mouth.luma, 10)),
  ]
}

/** Returns ln((a + floor) / (b + floor)). The floor limits the effect of values close to 0. */
function logRatio(a: number, b: number, floor: number): number {
  return Math.log((a + floor) / (b + floor))
}

/** Returns the chroma distance in quarters of the mean luma, because dark areas have less chroma. */
function chromaDistance(a: PatchStats, b: PatchStats): number {
  const distance = Math.hypot(a.blueness - b.blueness, a.redness - b.redness)
  return (4 * distance) / Math.max(20, (a.luma + b.luma) / 2)
}

/** Returns the log-odds of a probability, limited to −3..6. */
function logit(share: number): number {
  return Math.max(-3, Math.min(6, Math.log((share + 1e-4) / (1 - share + 1e-4))))
}

type LogisticWeights = { readonly intercept: number; readonly coefficients: readonly number[] }

function probability(evidence: readonly number[], { intercept, coefficients }: LogisticWeights) {
  const sum = evidence.reduce(
    (total, value, index) => total + value * (coefficients[index] ?? 0),
    intercept,
  )
  return 1 / (1 + Math.exp(-sum))
}

const weights = {
  eye: {
    intercept: -6.196,
    coefficients: [-1.708, 0.182, 0.562, -2.003, -0.481, 4.936, -1.929, -1.31, 0.304],
  },
  lowerFace: {
    intercept: 3.597,
    coefficients: [
      2.925, -0.09, 0.028, 1.806, 1.209, -2.286, 0.564, -1.909, -3.124, -2.095, 2.472, 0.476,
      -0.452, -36.492, -0.468,
    ],
  },
} as const satisfies Record<string, LogisticWeights>
