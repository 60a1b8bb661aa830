import type { Mesh } from '../landmarks/mesh.ts'
import { meshRegions } from '../landmarks/mesh-regions.ts'
import type { MeshRegion } from '../landmarks/mesh-regions.ts'
import { mergePatches, measurePatch } from './patch-stats.ts'
import type { PatchStats } from './patch-stats.ts'
import type { Occlusion } from './face-quality.ts'

/**
 * How sure it is that something covers the eyes or the lower face, 0..1; from 0.5 on they count as
 * covered.
 *
 * Two logistic regressions on how a part differs from the skin of the rest of the face: in
 * brightness, colour, contrast and fineness, and on the mesh's own doubt. Fitted by
 * `eval/fit-occlusion.ts` on press photographs and on the same with masks, bars, dark glasses and
 * hands drawn on them. Measured on people that the fit has not seen (docs/recognition/quality.md): coloured
 * masks, bars and sunglasses are seen, a hand of the colour of the face often is, a hand over one
 * eye mostly is not.
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

/** What the regressions look at, in the order of their weights. */
export type OcclusionEvidence = {
  /** The left eye's and the right eye's. */
  readonly eyes: readonly (readonly number[])[]
  readonly lowerFace: readonly number[]
}

export function occlusionEvidence(mesh: Mesh): OcclusionEvidence {
  const of = (name: MeshRegion): PatchStats =>
    measurePatch(
      mesh.crop,
      meshRegions[name].map((index) => mesh.cropPoints[index] ?? { x: 0, y: 0 }),
    )
  const face = {
    nose: of('nose'),
    bridge: of('bridge'),
    lips: of('lips'),
    mouth: of('mouth'),
    chin: of('chin'),
    forehead: of('forehead'),
  }
  const skin = mergePatches(of('leftCheek'), of('rightCheek'), face.nose)
  const doubt = logit(mesh.faceScore)
  return {
    eyes: [
      [...eyeOcclusionEvidence(of('leftEye'), of('leftOpening'), skin), doubt],
      [...eyeOcclusionEvidence(of('rightEye'), of('rightOpening'), skin), doubt],
    ],
    lowerFace: [...lowerFaceOcclusionEvidence(face), doubt],
  }
}

/** `skin`: that of cheeks and nose. */
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

/** Compared with forehead and bridge, which a mask leaves free. */
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
    // Whether darker or lighter is left out: lips are lighter than the skin of dark faces, and
    // with the sign the false alarms were theirs (2.9 % of the darkest quarter, 0.5 % of the others).
    Math.abs(logRatio(lips.luma, mouth.luma, 10)),
  ]
}

/** ln((a + floor) / (b + floor)): the floor keeps black from meaning too much. */
function logRatio(a: number, b: number, floor: number): number {
  return Math.log((a + floor) / (b + floor))
}

/** Distance in the plane of chroma, in quarters of the mean luma: darkness takes colour away. */
function chromaDistance(a: PatchStats, b: PatchStats): number {
  const apart = Math.hypot(a.blueness - b.blueness, a.redness - b.redness)
  return (4 * apart) / Math.max(20, (a.luma + b.luma) / 2)
}

/** Of a probability, within −3..6. */
function logit(share: number): number {
  return Math.max(-3, Math.min(6, Math.log((share + 1e-4) / (1 - share + 1e-4))))
}

type LogisticWeights = { readonly intercept: number; readonly coefficients: readonly number[] }

function probability(
  evidence: readonly number[],
  { intercept, coefficients: of }: LogisticWeights,
): number {
  const sum = evidence.reduce((total, value, index) => total + value * (of[index] ?? 0), intercept)
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
