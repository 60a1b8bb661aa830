import sharp from 'sharp'
import type { RandomSource } from '../../src/lib/random/seeded-random.ts'
import { type Frame, decodeImage } from '../../src/vision/image/decode.ts'
import type { Mesh } from '../../src/vision/landmarks/mesh.ts'
import { simulatePresentation } from '../liveness/simulate-presentation.ts'
import { renderSurfaces, type Surface, type SurfaceView } from './render-surface.ts'
import {
  bentDownwards,
  bentSideways,
  cutOutOf,
  cylinder,
  flatShape,
  headShape,
} from './surfaces.ts'
import { swapFace } from './swap-face.ts'
import { isTurn, type ChallengeStep } from '../../src/lib/liveness/challenge-steps.ts'

/** A photograph and the mesh of its face. */
type MeshedPicture = { readonly frame: Frame; readonly mesh: Mesh }

/** A photograph, and that of another person, whose face shows through holes or wears the first. */
export type ViewSource = MeshedPicture & { readonly behind: MeshedPicture }

/** What is turned before the camera. `head` is a solid head: the only kind that is not an attack. */
type ViewKind = {
  readonly name: string
  /** How far it is turned for a step, degrees. */
  readonly degrees: number
  readonly surfacesOf: (
    source: ViewSource,
    random: RandomSource,
    step: ChallengeStep | undefined,
  ) => Promise<readonly Surface[]>
}

export const steps: readonly ChallengeStep[] = ['turnLeft', 'turnRight', 'lookUp', 'lookDown']

/** All kinds; those of one object differ only in the angle. Their frontal views differ by noise. */
export const viewKinds: readonly ViewKind[] = [
  ...[30, 45, 60, 75].map((degrees) => ({ name: `flat ${degrees}`, degrees, surfacesOf: print })),
  ...[35, 60].map((degrees) => ({ name: `screen ${degrees}`, degrees, surfacesOf: screen })),
  { name: 'bent sideways 40', degrees: 40, surfacesOf: bentPrint(bentSideways(1.2)) },
  { name: 'bent round 50', degrees: 50, surfacesOf: bentPrint(bentSideways(2.4)) },
  { name: 'bent downwards 40', degrees: 40, surfacesOf: bentPrint(bentDownwards(1.2)) },
  { name: 'cut-out 45', degrees: 45, surfacesOf: cutOut(flatShape) },
  { name: 'bent cut-out 45', degrees: 45, surfacesOf: cutOut(bentSideways(2.4)) },
  { name: 'head', degrees: 27, surfacesOf: head },
  { name: 'panned and sheared', degrees: 20, surfacesOf: panned },
  { name: 'cylinder 35', degrees: 35, surfacesOf: bentPrint(cylinder(2.8)) },
  { name: 'mask before a head 30', degrees: 30, surfacesOf: maskBeforeHead },
  { name: 'swapped head', degrees: 27, surfacesOf: swappedHead },
]

/** Draws the view for a step, or the frontal view. @returns a JPEG. */
export async function drawView(
  kind: ViewKind,
  source: ViewSource,
  { step, random }: { readonly step?: ChallengeStep | undefined; readonly random: RandomSource },
): Promise<Buffer> {
  const surfaces = await kind.surfacesOf(source, random, step)
  const view = viewFor(step, kind.degrees, random)
  const background = [40 + 120 * random(), 40 + 120 * random(), 40 + 120 * random()] as const
  const drawn = renderSurfaces(surfaces, view, { sidePx: renderedSidePx, background })
  return openFrame(drawn)
    .resize(imageSidePx, imageSidePx)
    .jpeg({ quality: Math.round(80 + 15 * random()) })
    .toBuffer()
}

/** Drawn with more pixels than the image has, so that edges and fine texture are smooth. */
const renderedSidePx = 480
const imageSidePx = 320

/** A hand turns neither exactly nor about one axis. */
function viewFor(
  step: ChallengeStep | undefined,
  degrees: number,
  random: RandomSource,
): SurfaceView {
  const unsteady = (range: number): number => range * (2 * random() - 1)
  const still = { yaw: unsteady(3), pitch: unsteady(3), roll: unsteady(6) }
  if (step === undefined) return still
  const turned = degrees + unsteady(4)
  if (step === 'turnLeft') return { ...still, yaw: turned }
  if (step === 'turnRight') return { ...still, yaw: -turned }
  return { ...still, pitch: step === 'lookUp' ? turned : -turned }
}

/** A print as drawn for passive liveness, or the unchanged photograph: the best possible print. */
async function print({ frame }: ViewSource, random: RandomSource): Promise<Surface[]> {
  const texture = random() < 0.5 ? frame : await simulated('print', frame, random)
  return [{ texture, shape: flatShape }]
}

async function screen({ frame }: ViewSource, random: RandomSource): Promise<Surface[]> {
  return [{ texture: await simulated('replay', frame, random), shape: flatShape }]
}

function bentPrint(shape: Surface['shape']): ViewKind['surfacesOf'] {
  return async ({ frame }) => [{ texture: frame, shape }]
}

/** A paper mask with holes for eyes and mouth, before the face of another person. */
function cutOut(shape: Surface['shape']): ViewKind['surfacesOf'] {
  return async ({ frame, mesh, behind }) => [
    { texture: frame, shape, isSolid: cutOutOf(mesh, frame) },
    { texture: behind.frame, shape: (u, v) => ({ x: u, y: v, z: faceDepth + 2 * u ** 2 }) },
  ]
}

/** A paper mask with holes for eyes and mouth, bent round the head of another person, who moves. */
async function maskBeforeHead({ frame, mesh, behind }: ViewSource): Promise<Surface[]> {
  const bent = bentSideways(2.4)
  const headBehind = headShape(behind.mesh, behind.frame)
  return [
    {
      texture: frame,
      shape: (u, v) => {
        const { x, y, z } = bent(u, v)
        return { x, y, z: z - maskDepth }
      },
      isSolid: cutOutOf(mesh, frame),
    },
    { texture: behind.frame, shape: headBehind },
  ]
}

/** How far the mask is in front of the middle of the edge of the face behind it. */
const maskDepth = 0.14

/** A flat picture in a video that moves, stretches and shears it in the direction of the step. */
async function panned(
  { frame }: ViewSource,
  random: RandomSource,
  step: ChallengeStep | undefined,
): Promise<Surface[]> {
  if (step === undefined) return [{ texture: frame, shape: flatShape }]
  const strength = 0.6 + 0.6 * random()
  const sign = step === 'turnLeft' || step === 'lookDown' ? 1 : -1
  const shape: Surface['shape'] = (u, v) =>
    isTurn(step)
      ? { x: u * (1 - 0.25 * strength) + sign * strength * (0.08 + 0.2 * v), y: v, z: 0 }
      : { x: u, y: v * (1 - 0.25 * strength) + sign * strength * (0.08 + 0.2 * u), z: 0 }
  return [{ texture: frame, shape }]
}

/** The head of the other person with the face of the photograph instead of the face of that person. */
async function swappedHead({ frame, mesh, behind }: ViewSource): Promise<Surface[]> {
  const texture = swapFace({ frame, mesh }, behind)
  return [{ texture, shape: headShape(behind.mesh, behind.frame) }]
}

/** Distance of the face behind a paper mask, widths of the picture. */
const faceDepth = 0.04

async function head({ frame, mesh }: ViewSource): Promise<Surface[]> {
  return [{ texture: frame, shape: headShape(mesh, frame) }]
}

async function simulated(
  scene: 'print' | 'replay',
  frame: Frame,
  random: RandomSource,
): Promise<Frame> {
  const jpeg = await simulatePresentation(scene, frame, random)
  return (await decodeImage(jpeg, 40_000_000, scene)).frame
}

function openFrame({ pixels, width, height }: Frame) {
  return sharp(pixels, { raw: { width, height, channels: 3 } })
}
