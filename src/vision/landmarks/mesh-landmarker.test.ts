import assert from 'node:assert/strict'
import { test } from 'node:test'
import { builtinPack } from '../../models/builtin/builtin-pack.ts'
import { framePyramid } from '../image/pyramid.ts'
import type { ModelSessions } from '../model-sessions.ts'
import { createStopwatch } from '../stopwatch.ts'
import { openMeshLandmarker } from './mesh-landmarker.ts'

const frame = { width: 96, height: 96, pixels: new Uint8Array(3 * 96 * 96) }
const box = { x: 20, y: 10, width: 50, height: 60 }
const eyes = [
  { x: 35, y: 35 },
  { x: 55, y: 35 },
] as const

/**
 * Fits a mesh with networks that return these face scores in turn, and a second time with the same
 * box. @returns the networks in the order of their runs, and the score of the mesh.
 */
async function fitWith(faceScores: readonly number[], face: { readonly eyes?: typeof eyes }) {
  const runs: string[] = []
  const outputs: Record<string, () => Record<string, Float32Array>> = {
    face_landmark_68: () => ({
      landmarks: Float32Array.from({ length: 136 }, (_, index) => (index % 17) / 17),
    }),
    facemesh: () => ({
      Identity_1: Float32Array.of(
        faceScores[runs.filter((id) => id === 'facemesh').length - 1] ?? NaN,
      ),
      Identity_2: new Float32Array(3 * 468),
    }),
  }
  const sessions: Pick<ModelSessions, 'openBuiltin'> = {
    openBuiltin: (id) =>
      Promise.resolve({
        filePath: id,
        input: builtinPack.models[id].input,
        isAnySize: false,
        outputNames: [],
        run: () => {
          runs.push(id)
          return Promise.resolve(outputs[id]?.() ?? {})
        },
        close: () => Promise.resolve(),
      }),
  }
  const landmarker = await openMeshLandmarker(sessions)
  const fitMesh = landmarker.forImage({
    pyramid: framePyramid(frame),
    stopwatch: createStopwatch(),
  })
  const mesh = await fitMesh({ box, ...face })
  assert.equal(await fitMesh({ box, ...face }), mesh)
  return { runs, faceScore: mesh.faceScore }
}

test('A face with eyes that the mesh confirms needs no landmark network', async () => {
  assert.deepEqual(await fitWith([0.90625], { eyes }), { runs: ['facemesh'], faceScore: 0.90625 })
})

test('If the mesh does not confirm a face with eyes clearly, the landmark network places it', async () => {
  const { runs, faceScore } = await fitWith([0.875, 0.375], { eyes })
  assert.deepEqual(runs, ['facemesh', 'face_landmark_68', 'facemesh'])
  assert.equal(faceScore, 0.375)
})

test('The landmark network places the mesh of a face without eyes', async () => {
  const { runs } = await fitWith([0.99], {})
  assert.deepEqual(runs, ['face_landmark_68', 'facemesh'])
})
