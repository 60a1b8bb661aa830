import type { ModelEntry } from '../manifest.ts'

/** Finds faces, best small ones in groups; misses those that fill the picture. */
export const ssdMobilenetv1 = {
  id: 'ssd_mobilenetv1',
  version: '1',
  roles: ['detector'],
  product: {
    file: 'ssd_mobilenetv1.onnx',
    sha256: '',
  },
  source: {
    package: '@vladmandic/face-api',
    manifest: {
      path: 'model/ssd_mobilenetv1_model-weights_manifest.json',
      sha256: '888f744dffbc84f5f060d1f8427d9742341943a2dfaaf9205d10029b7e7a2955',
    },
    weights: {
      path: 'model/ssd_mobilenetv1_model.bin',
      sha256: '2835640602d53718aa6ae9a42896327eaa21beefed056c218d32ca7d79e1e2f8',
    },
    conversion: { from: 'face-api', network: 'ssd_mobilenetv1' },
  },
  provenance: {
    origin: 'yeephycho/tensorflow-face-detection (TUTORIAL.md)',
    licence:
      "MIT (LICENSE of @vladmandic/face-api, for the package as a whole; none of the weights' own)",
    trainingData: 'WIDER FACE (TUTORIAL.md)',
  },
  input: {
    name: 'input',
    width: 512,
    height: 512,
    layout: 'NCHW',
    colourOrder: 'RGB',
    mean: [0, 0, 0],
    scale: 1,
  },
  outputs: [
    {
      name: 'boxes',
      shape: [5118, 4],
      meaning: 'top, left, bottom, right as fractions of the square input',
    },
    { name: 'scores', shape: [5118], meaning: 'probability of a face, 0..1' },
  ],
  recipe: {
    /** The picture is scaled by its long side, put at the top left, and black fills the rest. */
    fit: 'letterbox',
    /** Of two boxes that overlap more, the better one is kept. */
    overlapMax: 0.5,
  },
  golden: {},
} as const satisfies ModelEntry
