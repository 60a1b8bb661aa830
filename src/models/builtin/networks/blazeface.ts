import type { BuiltinModel } from '../builtin-model.ts'
import measured from './measured-values.json' with { type: 'json' }

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
  golden: measured.blazeface.golden,
} as const satisfies BuiltinModel
