import type { BuiltinModel } from '../builtin-model.ts'
import data from './networks.json' with { type: 'json' }
import points from './points.json' with { type: 'json' }

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
    /** The index of the mesh point (0..467) at each of the 68 landmarks of the iBUG order. */
    landmarks68: points.landmarks68,
  },
} as const satisfies BuiltinModel
