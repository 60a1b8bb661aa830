import assert from 'node:assert/strict'
import path from 'node:path'
import { builtinSet, type ModelSet } from '../src/models/pack.ts'
import { preparePack } from '../src/models/prepare.ts'
import { createPipeline, type Pipeline } from '../src/vision/pipeline.ts'
import type { Box, Look, Point, SeenFace, View } from '../src/vision/view.ts'

/** Converted models are kept between runs; preparing them checks them. */
export const modelsFolder = path.join(import.meta.dirname, 'output', 'models')

export const everything: Look = {
  minFaceConfidence: 0.6,
  minFaceSizePx: 20,
  maxFaces: 100,
  crops: false,
}

export type TestEye = {
  readonly look: (bytes: Buffer, look?: Partial<Look>) => Promise<View>
  readonly close: Pipeline['close']
}

/** The pipeline without the service around it; the type of a picture is read from its bytes. */
export async function openEye(set: ModelSet = builtinSet): Promise<TestEye> {
  await preparePack({ folder: modelsFolder })
  const limits = { bytesMax: 8 * 2 ** 20, pixelsMax: 40_000_000, sideMinPx: 32 }
  const pipeline = await createPipeline({ modelsFolder, set, limits })
  return {
    close: pipeline.close,
    look(bytes, look) {
      const contentType = bytes[0] === 0x89 ? 'image/png' : 'image/jpeg'
      const picture = { bytes: bytes.toString('base64'), contentType } as const
      return pipeline.look(picture, { ...everything, ...look }, 'params.images[0]')
    },
  }
}

export function largest(view: View): SeenFace {
  const [face] = view.faces
  assert.ok(face, 'a face is seen')
  return face
}

/** The box drawn from edge to edge, so that no edge may be off by more than `tolerancePx`. */
export function assertBoxNear(actual: Box, expected: Box, tolerancePx: number): void {
  const edges = ({ left, top, width, height }: Box) => [left, top, left + width, top + height]
  for (const [index, edge] of edges(actual).entries())
    assert.ok(
      Math.abs(edge - (edges(expected)[index] ?? 0)) <= tolerancePx,
      `${JSON.stringify(actual)} is not ${JSON.stringify(expected)}`,
    )
}

/** Greatest distance between points of the same name, px. */
export function landmarksApart(a: SeenFace, b: SeenFace): number {
  const names = Object.keys(a.landmarks) as (keyof SeenFace['landmarks'])[]
  return Math.max(...names.map((name) => distance(a.landmarks[name], b.landmarks[name])))
}

function distance(a: Point, b: Point): number {
  return Math.hypot(a.x - b.x, a.y - b.y)
}
