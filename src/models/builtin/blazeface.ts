import type { ModelEntry } from '../manifest.ts'

/** Finds faces, best those near the camera. The "back" variant of BlazeFace, 256 px. */
export const blazeface = {
  id: 'blazeface',
  version: '1',
  roles: ['detector'],
  product: {
    file: 'blazeface.onnx',
    sha256: '',
  },
  source: {
    package: '@vladmandic/human',
    manifest: {
      path: 'models/blazeface.json',
      sha256: 'cd7bbfc078270572beb39f9e5ae67aadbd50b5e67cff37e6d4f6b3ea39312e5f',
    },
    weights: {
      path: 'models/blazeface.bin',
      sha256: 'dc9a97fdc50bc43216554bdd69aa3e7b9361a519ee7bdd996a2f69a98a6f9b72',
    },
    conversion: { from: 'tfjs-graph' },
  },
  provenance: {
    origin:
      'MediaPipe (Google): generatedBy https://github.com/google/mediapipe (models/blazeface.json)',
    licence:
      "MIT (LICENSE of @vladmandic/human, for the package as a whole; none of the weights' own)",
    trainingData: 'not stated',
  },
  input: {
    name: 'input',
    width: 256,
    height: 256,
    layout: 'NCHW',
    colourOrder: 'RGB',
    mean: [127.5, 127.5, 127.5],
    scale: 1 / 127.5,
  },
  outputs: [
    {
      name: 'Identity',
      shape: [512, 1],
      meaning: 'logits of a face, one per anchor of the 16×16 cells',
    },
    {
      name: 'Identity_1',
      shape: [384, 1],
      meaning: 'logits of a face, one per anchor of the 8×8 cells',
    },
    {
      name: 'Identity_2',
      shape: [512, 16],
      meaning: 'px from the anchor: centre x, y; width, height; six points x, y',
    },
    { name: 'Identity_3', shape: [384, 16], meaning: 'the same for the anchors of the 8×8 cells' },
  ],
  recipe: {
    /** The picture is scaled by its long side, put at the top left, and black fills the rest. */
    fit: 'letterbox',
    /** Anchors lie in the centre of each cell, row by row, several in one place. */
    anchors: [
      { stridePx: 16, perCell: 2, logits: 'Identity', boxes: 'Identity_2' },
      { stridePx: 32, perCell: 6, logits: 'Identity_1', boxes: 'Identity_3' },
    ],
    /** Left and right as seen in the image. */
    points: ['leftEye', 'rightEye', 'noseTip', 'mouth', 'leftEar', 'rightEar'],
    /** Of two boxes that overlap more, the better one is kept. */
    overlapMax: 0.3,
  },
  golden: {},
} as const satisfies ModelEntry
