import assert from 'node:assert/strict'
import { test } from 'node:test'
import { builtinPack } from '../../models/builtin/builtin-pack.ts'
import type { FitMesh } from '../image-context.ts'
import { centreOf, type Point } from '../image/geometry.ts'
import type { Mesh } from '../landmarks/mesh.ts'
import { detectFaces } from './open-detector.ts'
import type { Detection } from './detection.ts'

const frame = { width: 1000, height: 800, pixels: new Uint8Array() }
const { landmarks68 } = builtinPack.models.facemesh.constants

/** A candidate of BlazeFace, with the face that the mesh network finds there. */
type TestCandidate = {
  readonly score: number
  readonly x: number
  readonly y?: number
  readonly side?: number
  readonly meshScore?: number
  /** Default: the centre of the box. */
  readonly meshAt?: Point
}

const face = (x: number, score = 0.9): TestCandidate => ({ x, score })
const group = [face(100), face(400), face(700, 0.8)]
const rival = (x: number, score: number, meshScore: number): TestCandidate => ({
  x,
  y: 600,
  score,
  meshScore,
})

/** Returns a mesh with its nose tip at `centre`. */
function meshAt({ x, y }: Point, faceScore: number): Mesh {
  const points = Array.from({ length: 468 }, () => ({ x, y, z: 0 }))
  for (const [index, point] of landmarks68.entries())
    if (index >= 36 && index < 48) points[point] = { x: x + (index < 42 ? -20 : 20), y, z: 0 }
  const crop = { width: 0, height: 0, planes: new Float32Array() }
  return { points, cropPoints: points, faceScore, crop, cropScale: 1 }
}

type DetectedGroup = { readonly faces: readonly Detection[]; readonly ssdRuns: number }

async function detect(candidates: readonly TestCandidate[]): Promise<DetectedGroup> {
  const meshes = new Map<unknown, Mesh>()
  const blazeface = candidates.map((candidate) => {
    const { score, x, y = 200, side = 100, meshScore = 1 } = candidate
    const box = { x, y, width: side, height: side }
    meshes.set(box, meshAt(candidate.meshAt ?? centreOf(box), meshScore))
    return { box, score }
  })
  const fitMesh: FitMesh = ({ box }) => Promise.resolve(meshes.get(box) ?? assert.fail())
  let ssdRuns = 0
  const none = () => Promise.resolve([])
  const ssd = () => {
    ssdRuns++
    return none()
  }
  const detectors = { blazeface: async () => blazeface, ssd, borderFaces: none, largeFaces: none }
  const isWanted = ({ confidence }: Detection): boolean => confidence >= 0.6
  const faces = await detectFaces({ ...detectors, fitMesh }, frame, { isWanted })
  return { faces, ssdRuns }
}

test('A group needs no SSD if the mesh confirms each face and rejects each other candidate', async () => {
  for (const [others, count] of [
    [[], 3],
    [[{ ...face(800), y: 500, side: 60 }], 4],
    [[{ ...face(800, 0.45), y: 500, meshScore: 0.85 }], 4],
    [[{ ...face(930, 0.7) }], 4],
    [[100, 250, 400, 550].map((x) => rival(x, 0.34, 0.09)), 3],
    [[rival(100, 0.14, 1)], 3],
    [[{ ...rival(100, 0.3, 1), meshAt: { x: 160, y: 250 } }], 3],
    [[100, 250, 400, 550, 700].map((x) => ({ ...face(x), y: 600 })), 8],
  ] as const) {
    const { faces, ssdRuns } = await detect([...group, ...others])
    assert.deepEqual([ssdRuns, faces.length], [0, count], JSON.stringify(others))
  }
})

test('The SSD runs if a candidate of a group is uncertain or small', async () => {
  for (const others of [
    [{ ...face(800), y: 500, side: 59 }],
    [{ ...face(800), y: 500, meshScore: 0.84 }],
    [face(930, 0.69)],
    [{ ...face(800), y: 500, meshAt: { x: 150, y: 260 } }],
    [rival(100, 0.3, 0.1)],
    [rival(100, 0.15, 1)],
    [rival(100, 0.35, 0)],
    [100, 250, 400, 550, 700].map((x) => rival(x, 0.2, 0)),
    [100, 250, 400, 550, 700, 850].map((x) => ({ ...face(x), y: 600 })),
  ])
    assert.equal((await detect([...group, ...others])).ssdRuns, 1, JSON.stringify(others))
  assert.equal((await detect([rival(100, 0.3, 0)])).ssdRuns, 1, 'no face')
})

test('The confidence of a face in a group is the mean of both scores, the most certain first', async () => {
  const uncertain = { ...face(800, 0.45), y: 500, meshScore: 0.85 }
  const { faces } = await detect([face(100, 0.7), face(400, 0.9), uncertain])
  const confidences = faces.map(({ confidence }) => Math.round(1000 * confidence) / 1000)
  assert.deepEqual(confidences, [0.96, 0.88, 0.72])
})
