import type { BuiltinModel } from '../builtin-model.ts'
import data from './networks.json' with { type: 'json' }

/** The index of the mesh point (0..467) at each of the 68 landmarks of the iBUG order. */
const meshPointsOfLandmarks68 = [
  162, 234, 93, 58, 172, 136, 149, 148, 152, 377, 378, 365, 397, 288, 323, 454, 389, 71, 63, 105,
  66, 107, 336, 296, 334, 293, 301, 168, 197, 5, 4, 75, 97, 2, 326, 305, 33, 160, 158, 133, 153,
  144, 362, 385, 387, 263, 373, 380, 61, 39, 37, 0, 267, 269, 291, 405, 314, 17, 84, 181, 78, 82,
  13, 312, 308, 317, 14, 87,
] as const

/** Finds 468 points in 3D from an upright crop. */
export const facemesh = {
  id: 'facemesh',
  ...data.facemesh,
  version: '1',
  roles: ['landmarks'],
  source: {
    ...data.facemesh.source,
    // The contours of eyes and lips, output Identity of the source, are not used.
    conversion: {
      from: 'tfjs-graph',
      outputs: { Identity_1: 'Identity_1', Identity_2: 'Identity_2' },
    },
  },
  input: { ...data.facemesh.input, colourOrder: 'RGB' },
  constants: {
    /** The crop is a square, 1.5 times the longer side of the box around the 68 landmarks. */
    cropFactor: 1.5,
    /** The centre of the crop is the centre of the box, moved along y by this fraction of the longer side. */
    centreShift: -0.1,
    landmarks68: meshPointsOfLandmarks68,
  },
} as const satisfies BuiltinModel
