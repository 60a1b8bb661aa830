import { applyTransform, type Point } from '../../src/vision/image/geometry.ts'
import type { Frame } from '../../src/vision/image/decode.ts'
import { type Mesh, meshRegions } from '../../src/vision/landmarks/mesh.ts'
import { fitAffine } from '../../src/vision/liveness/challenge/fit-affine.ts'
import { isInside } from './surfaces.ts'

type Picture = { readonly frame: Frame; readonly mesh: Mesh }

/** Returns the picture `target` with the face of `face`, which an affine map moves to its place. */
export function swapFace(face: Picture, target: Picture): Frame {
  const { width, height } = target.frame
  const pixels = Uint8Array.from(target.frame.pixels)
  const toFace = fitAffine(target.mesh.points, face.mesh.points)
  const oval = meshRegions.oval.map((index): Point => target.mesh.points[index] ?? { x: 0, y: 0 })
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      if (!isInside(oval, { x, y })) continue
      const from = applyTransform(toFace, { x, y })
      const column = Math.min(face.frame.width - 1, Math.max(0, Math.round(from.x)))
      const row = Math.min(face.frame.height - 1, Math.max(0, Math.round(from.y)))
      const source = 3 * (row * face.frame.width + column)
      pixels.set(face.frame.pixels.subarray(source, source + 3), 3 * (y * width + x))
    }
  return { width, height, pixels }
}
