import type { BuiltinModel } from '../builtin-model.ts'

/** Finds faces; best for faces near the camera. The "back" variant of BlazeFace, 256 px. */
export const blazeface = {
  id: 'blazeface',
  version: '2',
  roles: ['detector'],
  artifact: {
    file: 'blazeface.onnx',
    sha256: '603f40e2993531eb8f36cea399fdf455882bbdf8a52bebdaaa07ff03f3e6d0ba',
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
    conversion: { from: 'tfjs-graph', isAnySize: true },
  },
  provenance: {
    origin:
      'MediaPipe (Google): generatedBy https://github.com/google/mediapipe (models/blazeface.json)',
    trainingData: 'not stated',
  },
  measured: [
    {
      what: 'faces found, false detections per picture, without other detectors, at 0.5',
      on: '205 labelled faces',
      value: '199 of 205, 0.03',
      how: 'quoted',
    },
    { what: 'one picture, one thread', on: '256×256', value: '6.8 ms', how: 'quoted' },
  ],
  notFor: 'Small faces in groups without ssd_mobilenetv1, which the service runs for them.',
  input: {
    name: 'input',
    width: 256,
    height: 256,
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
      meaning:
        'for each anchor of the 16×16 cells, px from the anchor: centre x, y; width, height; six points x, y',
    },
    {
      name: 'Identity_3',
      shape: [384, 16],
      meaning: 'the same values for each anchor of the 8×8 cells',
    },
  ],
  constants: {
    /** Anchors are in the centre of each cell, row by row, several at the same place. */
    anchors: [
      { stridePx: 16, perCell: 2, logits: 'Identity', boxes: 'Identity_2' },
      { stridePx: 32, perCell: 6, logits: 'Identity_1', boxes: 'Identity_3' },
    ],
    /** From this IoU on, the box with the lower score is dropped. */
    overlapMax: 0.3,
  },
  golden: {
    Identity: {
      samples: [
        -164.999, -1093.47, -308.062, -372.425, -67.1697, -56.3526, -30.7492, -24.5106, -9.40204,
        -7.14174, -8.869, -13.702, -38.4983, -21.8239, -3.37582, -3.1288,
      ],
      meanAbsolute: 125.631,
      tolerance: 0.251261,
    },
    Identity_1: {
      samples: [
        -5.51146, -36.3245, -25.1324, -15.1544, -3.41094, -20.4927, -10.3035, -16.1364, -1.64705,
        -15.0242, -16.2955, -18.7125, -3.57334, -8.03093, -10.174, -17.2258,
      ],
      meanAbsolute: 14.491,
      tolerance: 0.0289819,
    },
    Identity_2: {
      samples: [
        -0.980588, -108.09, -2.40327, 5.58882, -4.51504, -8.38931, -9.35814, 6.32883, 3.49078,
        46.3358, -5.31161, 1.62862, 1.65244, 7.86186, 1.00636, -5.08856,
      ],
      meanAbsolute: 9.37537,
      tolerance: 0.0187507,
    },
    Identity_3: {
      samples: [
        32.7464, -25.0536, 98.3633, -25.2157, 9.92923, -4.12806, 7.24017, 55.6622, -33.7983,
        2.82772, -24.5306, 11.706, 101.131, -31.955, -20.3048, -10.0848,
      ],
      meanAbsolute: 25.7748,
      tolerance: 0.0515495,
    },
  },
} as const satisfies BuiltinModel
