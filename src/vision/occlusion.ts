import type { Mesh } from './mesh.ts'
import { meshRegions } from './mesh-regions.ts'
import type { MeshRegion } from './mesh-regions.ts'
import { joined, patchOf } from './patch.ts'
import type { Patch } from './patch.ts'
import type { Occlusion } from './face-quality.ts'

/**
 * How sure it is that something covers the eyes or the lower face, 0..1; from 0.5 on they count as
 * covered.
 *
 * Two logistic regressions on how a part differs from the skin of the rest of the face: in
 * brightness, colour, contrast and fineness, and on the mesh's own doubt. Fitted by
 * `eval/fit-occlusion.ts` on press photographs and on the same with masks, bars, dark glasses and
 * hands drawn on them. Measured on people that the fit has not seen (docs/quality.md): coloured
 * masks, bars and sunglasses are seen, a hand of the colour of the face often is, a hand over one
 * eye mostly is not.
 */
export function occlusionOf(mesh: Mesh): Occlusion {
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
  const of = (name: MeshRegion): Patch =>
    patchOf(
      mesh.chip,
      meshRegions[name].map((index) => mesh.inChip[index] ?? { x: 0, y: 0 }),
    )
  const face = {
    nose: of('nose'),
    bridge: of('bridge'),
    lips: of('lips'),
    mouth: of('mouth'),
    chin: of('chin'),
    forehead: of('forehead'),
  }
  const skin = joined(of('leftCheek'), of('rightCheek'), face.nose)
  const doubt = logit(mesh.faceScore)
  return {
    eyes: [
      [...eyeEvidence(of('leftEye'), of('leftOpening'), skin), doubt],
      [...eyeEvidence(of('rightEye'), of('rightOpening'), skin), doubt],
    ],
    lowerFace: [...lowerEvidence(face), doubt],
  }
}

/** `skin`: that of cheeks and nose. */
function eyeEvidence(eye: Patch, opening: Patch, skin: Patch): number[] {
  const brightness = ratio(eye.luma, skin.luma, 10)
  return [
    brightness,
    brightness ** 2,
    colourApart(eye, skin),
    ratio(eye.gradient, skin.gradient, 2),
    ratio(eye.deviation, skin.deviation, 2),
    ratio(opening.luma, eye.luma, 10),
    ratio(opening.gradient, skin.gradient, 2),
    ratio(opening.deviation, skin.deviation, 2),
  ]
}

type Parts = Readonly<Record<'nose' | 'bridge' | 'lips' | 'mouth' | 'chin' | 'forehead', Patch>>

/** Compared with forehead and bridge, which a mask leaves free. */
function lowerEvidence({ nose, bridge, lips, mouth, chin, forehead }: Parts): number[] {
  const skin = joined(forehead, bridge)
  const mouthBrightness = ratio(mouth.luma, skin.luma, 10)
  const noseBrightness = ratio(nose.luma, skin.luma, 10)
  return [
    mouthBrightness,
    mouthBrightness ** 2,
    colourApart(mouth, skin),
    colourApart(chin, skin),
    colourApart(nose, skin),
    noseBrightness,
    noseBrightness ** 2,
    (lips.redness - mouth.redness) / 10,
    ratio(lips.gradient, skin.gradient, 2),
    ratio(lips.deviation, skin.deviation, 2),
    ratio(mouth.gradient, skin.gradient, 2),
    ratio(nose.deviation, skin.deviation, 2),
    ratio(nose.gradient, skin.gradient, 2),
    // Whether darker or lighter is left out: lips are lighter than the skin of dark faces, and
    // with the sign the false alarms were theirs (2.9 % of the darkest quarter, 0.5 % of the others).
    Math.abs(ratio(lips.luma, mouth.luma, 10)),
  ]
}

/** ln((a + floor) / (b + floor)): the floor keeps black from meaning too much. */
function ratio(a: number, b: number, floor: number): number {
  return Math.log((a + floor) / (b + floor))
}

/** Distance in the plane of chroma, in quarters of the mean luma: darkness takes colour away. */
function colourApart(a: Patch, b: Patch): number {
  const apart = Math.hypot(a.blueness - b.blueness, a.redness - b.redness)
  return (4 * apart) / Math.max(20, (a.luma + b.luma) / 2)
}

/** Of a probability, within −3..6. */
function logit(share: number): number {
  return Math.max(-3, Math.min(6, Math.log((share + 1e-4) / (1 - share + 1e-4))))
}

type Weights = { readonly intercept: number; readonly of: readonly number[] }

function probability(evidence: readonly number[], { intercept, of }: Weights): number {
  const sum = evidence.reduce((total, value, index) => total + value * (of[index] ?? 0), intercept)
  return 1 / (1 + Math.exp(-sum))
}

const weights = {
  eye: {
    intercept: -6.196,
    of: [-1.708, 0.182, 0.562, -2.003, -0.481, 4.936, -1.929, -1.31, 0.304],
  },
  lowerFace: {
    intercept: 3.597,
    of: [
      2.925, -0.09, 0.028, 1.806, 1.209, -2.286, 0.564, -1.909, -3.124, -2.095, 2.472, 0.476,
      -0.452, -36.492, -0.468,
    ],
  },
} as const satisfies Record<string, Weights>
