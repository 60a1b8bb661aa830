import type { BuiltinModel } from '../builtin-model.ts'
import measured from './measured-values.json' with { type: 'json' }

/** Finds 68 points of a face in a crop. They are rough, but sufficient to rotate the face upright. */
export const faceLandmark68 = {
  id: 'face_landmark_68',
  version: '1',
  roles: ['landmarks'],
  artifact: {
    file: 'face_landmark_68.onnx',
    sha256: '861c380488aad18b3379125dc3caadaf86658bf7b21724a7f755741c9999200a',
  },
  source: {
    package: '@vladmandic/face-api',
    manifest: {
      path: 'model/face_landmark_68_model-weights_manifest.json',
      sha256: 'ca4886639f86e99b39fed0c155f81b63317225773bd9616716e887b0153389c9',
    },
    weights: {
      path: 'model/face_landmark_68_model.bin',
      sha256: '4611ef65c87d836d03d684b30eec4d195d8b219fa1dd58fc58945831c6b9299b',
    },
    conversion: { from: 'face-api', network: 'face_landmark_68' },
  },
  provenance: {
    origin: 'a network of face-api (TUTORIAL.md)',
    trainingData: 'about 35,000 face images labelled with 68 points, not named (TUTORIAL.md)',
  },
  measured: [{ what: 'one face, one thread', on: '112×112', value: '1.1 ms', how: 'quoted' }],
  notFor: 'Profiles; exact measurements: the points only place the crop of the mesh.',
  input: {
    name: 'input',
    width: 112,
    height: 112,
    colourOrder: 'RGB',
    mean: [0, 0, 0],
    scale: 1,
  },
  outputs: [
    {
      name: 'landmarks',
      shape: [136],
      meaning: '68 points of the iBUG order, x and y alternating, as fractions of the crop',
    },
  ],
  constants: {
    /** The crop is a square with the longer side of the box, about its centre. */
    cropFactor: 1,
  },
  golden: measured.face_landmark_68.golden,
} as const satisfies BuiltinModel
