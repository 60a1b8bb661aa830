import type { BuiltinModel } from '../builtin-model.ts'
import data from './networks.json' with { type: 'json' }

/** Finds 68 points of a face in a crop. They are rough, but sufficient to rotate the face upright. */
export const faceLandmark68 = {
  id: 'face_landmark_68',
  ...data.face_landmark_68,
  version: '1',
  roles: ['landmarks'],
  source: {
    ...data.face_landmark_68.source,
    conversion: { from: 'face-api', network: 'face_landmark_68' },
  },
  input: { ...data.face_landmark_68.input, colourOrder: 'RGB' },
  constants: {
    /** The crop is a square with the longer side of the box, about its centre. */
    cropFactor: 1,
  },
} as const satisfies BuiltinModel
