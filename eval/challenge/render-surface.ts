import type { Point3 } from '../../src/vision/landmarks/mesh.ts'
import type { Frame } from '../../src/vision/image/decode.ts'

/**
 * A textured surface. Lengths are in widths of the texture; x points right, y down and z away from
 * the camera. The origin is the point that the surface turns around.
 */
export type Surface = {
  readonly texture: Frame
  /** The position of the point (u, v) of the texture, −0.5..0.5 each. */
  readonly shape: (u: number, v: number) => Point3
  /** Whether the surface exists at (u, v); default: everywhere. */
  readonly isSolid?: (u: number, v: number) => boolean
}

/** How a surface is turned before the camera, degrees. */
export type SurfaceView = {
  /** > 0: the surface faces the right side of the image. */
  readonly yaw: number
  /** > 0: the surface faces upwards. */
  readonly pitch: number
  /** > 0: clockwise. */
  readonly roll: number
}

type Scene = {
  readonly sidePx: number
  /** Colour of everything behind the surfaces. */
  readonly background: readonly [number, number, number]
}

/** Renders surfaces, which are turned together, as a camera at `cameraDistance` would record them. */
export function renderSurfaces(
  surfaces: readonly Surface[],
  view: SurfaceView,
  { sidePx, background }: Scene,
): Frame {
  const pixels = new Uint8Array(sidePx * sidePx * 3)
  for (let i = 0; i < pixels.length; i++) pixels[i] = background[i % 3] ?? 0
  const target: RenderTarget = {
    frame: { width: sidePx, height: sidePx, pixels },
    depths: new Float32Array(sidePx * sidePx).fill(Number.POSITIVE_INFINITY),
  }
  for (const surface of surfaces) {
    const vertices = projectGrid(surface, view, sidePx)
    for (let row = 0; row < gridCells; row++)
      for (let column = 0; column < gridCells; column++) {
        const corner = row * (gridCells + 1) + column
        const at = (offset: number): Vertex => vertices[corner + offset] ?? originVertex
        fillTriangle(target, surface, [at(0), at(1), at(gridCells + 1)])
        fillTriangle(target, surface, [at(1), at(gridCells + 2), at(gridCells + 1)])
      }
  }
  return target.frame
}

/** In widths of the texture: a sheet of A5 at arm's length. */
const cameraDistance = 3
/** The share of the image's width that a frontal surface fills. */
const frontalShare = 0.95
/** Cells along a side of the grid that approximates a surface by triangles. */
const gridCells = 48

type RenderTarget = { readonly frame: Frame; readonly depths: Float32Array }

/** x, y in px of the image. */
type Vertex = Point3 & { readonly u: number; readonly v: number }
const originVertex: Vertex = { x: 0, y: 0, z: 1, u: 0, v: 0 }

function projectGrid({ shape }: Surface, view: SurfaceView, sidePx: number): Vertex[] {
  const turn = rotationOf(view)
  const focalPx = frontalShare * cameraDistance * sidePx
  return Array.from({ length: (gridCells + 1) ** 2 }, (_, index) => {
    const u = (index % (gridCells + 1)) / gridCells - 0.5
    const v = Math.floor(index / (gridCells + 1)) / gridCells - 0.5
    const { x, y, z } = turn(shape(u, v))
    const depth = z + cameraDistance
    const scale = focalPx / depth
    return { x: sidePx / 2 + x * scale, y: sidePx / 2 + y * scale, z: depth, u, v }
  })
}

/** Returns a function that turns a point: first the roll, then the pitch, then the yaw. */
export function rotationOf({ yaw, pitch, roll }: SurfaceView): (point: Point3) => Point3 {
  const radians = Math.PI / 180
  const [sinYaw, cosYaw] = [Math.sin(yaw * radians), Math.cos(yaw * radians)]
  const [sinPitch, cosPitch] = [Math.sin(pitch * radians), Math.cos(pitch * radians)]
  const [sinRoll, cosRoll] = [Math.sin(roll * radians), Math.cos(roll * radians)]
  return ({ x, y, z }) => {
    const rolled = { x: x * cosRoll - y * sinRoll, y: x * sinRoll + y * cosRoll }
    const pitched = { y: rolled.y * cosPitch + z * sinPitch, z: z * cosPitch - rolled.y * sinPitch }
    return {
      x: rolled.x * cosYaw - pitched.z * sinYaw,
      y: pitched.y,
      z: rolled.x * sinYaw + pitched.z * cosYaw,
    }
  }
}

function fillTriangle(
  { frame, depths }: RenderTarget,
  { texture, isSolid }: Surface,
  [a, b, c]: readonly [Vertex, Vertex, Vertex],
): void {
  const area = (b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y)
  if (area === 0) return
  const { width, height, pixels } = frame
  const left = Math.max(0, Math.ceil(Math.min(a.x, b.x, c.x) - 0.5))
  const right = Math.min(width - 1, Math.floor(Math.max(a.x, b.x, c.x) - 0.5))
  const top = Math.max(0, Math.ceil(Math.min(a.y, b.y, c.y) - 0.5))
  const bottom = Math.min(height - 1, Math.floor(Math.max(a.y, b.y, c.y) - 0.5))
  for (let row = top; row <= bottom; row++)
    for (let column = left; column <= right; column++) {
      const x = column + 0.5
      const y = row + 0.5
      const shareB = ((x - a.x) * (c.y - a.y) - (c.x - a.x) * (y - a.y)) / area
      const shareC = ((b.x - a.x) * (y - a.y) - (x - a.x) * (b.y - a.y)) / area
      const shareA = 1 - shareB - shareC
      if (shareA < 0 || shareB < 0 || shareC < 0) continue
      const index = row * width + column
      const z = shareA * a.z + shareB * b.z + shareC * c.z
      if (z >= (depths[index] ?? 0)) continue
      const u = shareA * a.u + shareB * b.u + shareC * c.u
      const v = shareA * a.v + shareB * b.v + shareC * c.v
      if (isSolid && !isSolid(u, v)) continue
      depths[index] = z
      writeTexel(texture, { u, v }, pixels.subarray(3 * index, 3 * index + 3))
    }
}

type TexturePoint = { readonly u: number; readonly v: number }

/** Writes the colour of the texture at (u, v), interpolated, to `pixel`. */
function writeTexel(
  { width, height, pixels }: Frame,
  { u, v }: TexturePoint,
  pixel: Uint8Array,
): void {
  const x = Math.min(width - 1, Math.max(0, (u + 0.5) * width - 0.5))
  const y = Math.min(height - 1, Math.max(0, (v + 0.5) * height - 0.5))
  const left = Math.floor(x)
  const top = Math.floor(y)
  const right = Math.min(width - 1, left + 1)
  const bottom = Math.min(height - 1, top + 1)
  for (let channel = 0; channel < 3; channel++) {
    const at = (column: number, row: number): number =>
      pixels[(row * width + column) * 3 + channel] ?? 0
    const upper = at(left, top) + (at(right, top) - at(left, top)) * (x - left)
    const lower = at(left, bottom) + (at(right, bottom) - at(left, bottom)) * (x - left)
    pixel[channel] = Math.round(upper + (lower - upper) * (y - top))
  }
}
