import type { Point, Rect } from '../../src/vision/image/geometry.ts'
import {
  type Mesh,
  type MeshRegion,
  type Point3,
  meshRegions,
} from '../../src/vision/landmarks/mesh.ts'
import type { Frame } from '../../src/vision/image/decode.ts'
import type { Surface } from './render-surface.ts'

/** A flat sheet with the picture. */
export const flatShape: Surface['shape'] = (u, v) => ({ x: u, y: v, z: 0 })

/** A sheet that is bent around a vertical axis; `bend` is its angle from edge to edge, radians. */
export function bentSideways(bend: number): Surface['shape'] {
  return (u, v) => ({ ...arc(u, bend), y: v })
}

/** As `bentSideways`, but turned around the axis of its cylinder, as a head turns on its neck. */
export function cylinder(bend: number): Surface['shape'] {
  const bent = bentSideways(bend)
  return (u, v) => {
    const { x, y, z } = bent(u, v)
    return { x, y, z: z - 1 / bend }
  }
}

/** A sheet that is bent around a horizontal axis. */
export function bentDownwards(bend: number): Surface['shape'] {
  return (u, v) => {
    const { x, z } = arc(v, bend)
    return { x: u, y: x, z }
  }
}

function arc(position: number, bend: number): { readonly x: number; readonly z: number } {
  const radius = 1 / bend
  return { x: radius * Math.sin(position * bend), z: radius * (1 - Math.cos(position * bend)) }
}

/**
 * The solid head of a photograph: the depth of the mesh where the face is, and beside it a surface
 * that recedes from the edge of the face. It turns around a point behind the middle of the face, as a
 * head turns on its neck.
 */
export function headShape(mesh: Mesh, { width, height }: Frame): Surface['shape'] {
  const points = mesh.points.map(({ x, y, z }) => ({
    x: x / width - 0.5,
    y: y / height - 0.5,
    z: z / width,
  }))
  const oval = meshRegions.oval.map((index) => points[index] ?? { x: 0, y: 0, z: 0 })
  const aspect = height / width
  const faceHeight = Math.max(...oval.map(({ y }) => y)) - Math.min(...oval.map(({ y }) => y))
  const axis = meanOf3(oval)
  return (u, v) => {
    const inside = isInside(oval, { x: u, y: v })
    const edge = nearest(oval, u, v, 2)
    const z = inside
      ? weightedDepth(nearest(points, u, v, 4))
      : weightedDepth(edge) + Math.min(faceHeight, (edge[0]?.distance ?? 0) * recession)
    return { x: u - axis.x, y: (v - axis.y) * aspect, z: z - axis.z }
  }
}

/** Depth of the head beyond the edge of the face, per distance from the edge. */
const recession = 1.5

type NearPoint = { readonly point: Point3; readonly distance: number }

function nearest(points: readonly Point3[], u: number, v: number, count: number): NearPoint[] {
  return points
    .map((point) => ({ point, distance: Math.hypot(point.x - u, point.y - v) }))
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, count)
}

/** Returns the mean depth, weighted by the inverse square of the distance. */
function weightedDepth(near: readonly NearPoint[]): number {
  const weights = near.map(({ distance }) => 1 / (distance ** 2 + 1e-6))
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  return near.reduce((sum, { point }, index) => sum + point.z * (weights[index] ?? 0), 0) / total
}

function meanOf3(points: readonly Point3[]): Point3 {
  const sum = points.reduce((a, b) => ({ x: a.x + b.x, y: a.y + b.y, z: a.z + b.z }))
  const { length } = points
  return { x: sum.x / length, y: sum.y / length, z: sum.z / length }
}

/** Whether a paper mask, cut out along the face, covers (u, v): not at the eyes and the mouth. */
export function cutOutOf(mesh: Mesh, { width, height }: Frame): (u: number, v: number) => boolean {
  const outline = (region: MeshRegion): Point[] =>
    meshRegions[region].map((index) => {
      const { x, y } = mesh.points[index] ?? { x: 0, y: 0 }
      return { x: x / width - 0.5, y: y / height - 0.5 }
    })
  const oval = outline('oval')
  const holes = [outline('leftOpening'), outline('rightOpening'), outline('lips')]
  const bounds = boundsOfOutline(oval)
  return (u, v) => {
    if (u < bounds.x || v < bounds.y || u > bounds.x + bounds.width) return false
    return isInside(oval, { x: u, y: v }) && !holes.some((hole) => isInside(hole, { x: u, y: v }))
  }
}

function boundsOfOutline(outline: readonly Point[]): Rect {
  const x = Math.min(...outline.map((point) => point.x))
  const y = Math.min(...outline.map((point) => point.y))
  const right = Math.max(...outline.map((point) => point.x))
  const bottom = Math.max(...outline.map((point) => point.y))
  return { x, y, width: right - x, height: bottom - y }
}

/** Whether the outline encloses the point (even–odd rule). */
export function isInside(outline: readonly Point[], { x, y }: Point): boolean {
  let inside = false
  for (let i = 0, j = outline.length - 1; i < outline.length; j = i++) {
    const a = outline[i] ?? { x: 0, y: 0 }
    const b = outline[j] ?? { x: 0, y: 0 }
    if (a.y > y !== b.y > y && x < ((b.x - a.x) * (y - a.y)) / (b.y - a.y) + a.x) inside = !inside
  }
  return inside
}
