import sharp from 'sharp'
import type { RandomSource } from '../../src/lib/random/seeded-random.ts'
import { decodeImage } from '../../src/vision/image/decode.ts'
import type { Frame } from '../../src/vision/image/frame.ts'
import type { Mesh } from '../../src/vision/landmarks/mesh.ts'
import type { ChallengeStep } from '../../src/vision/liveness/challenge/challenge-judgement.ts'
import { simulatePresentation } from '../liveness/simulate-presentation.ts'
import { renderSurfaces, type Surface, type SurfaceView } from './render-surface.ts'
import { bentDownwards, bentSideways, cutOutOf, flatShape, headShape } from './surfaces.ts'

/** A photograph, the mesh of its face, and the face of another person that shows through holes. */
export type ViewSource = { readonly frame: Frame; readonly mesh: Mesh; readonly behind: Frame }

/** What is turned before the camera. `head` is a solid head: the only kind that is not an attack. */
type ViewKind = {
  readonly name: string
  /** How far it is turned for a step, degrees. */
  readonly degrees: number
  readonly surfacesOf: (source: ViewSource, random: RandomSource) => Promise<readonly Surface[]>
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
]

/** Draws the view for a step, or the frontal view. @returns a JPEG. */
export async function drawView(
  kind: ViewKind,
  source: ViewSource,
  { step, random }: { readonly step?: ChallengeStep | undefined; readonly random: RandomSource },
): Promise<Buffer> {
  const surfaces = await kind.surfacesOf(source, random)
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
    { texture: behind, shape: (u, v) => ({ x: u, y: v, z: faceDepth + 2 * u ** 2 }) },
  ]
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
