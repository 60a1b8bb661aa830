import type { BuiltinModel } from '../builtin-model.ts'
import { activationRanges } from './activation-ranges.ts'
import measured from './measured-values.json' with { type: 'json' }

/** The six shapes of an anchor: two squares, and rectangles of the proportions 2, 1/2, 3 and 1/3. */
function anchorShapes(side: number, largerSide: number): readonly (readonly [number, number])[] {
  const rectangle = (proportion: number): readonly [number, number] => [
    side * Math.sqrt(proportion),
    side / Math.sqrt(proportion),
  ]
  return [
    [side, side],
    [largerSide, largerSide],
    rectangle(2),
    rectangle(1 / 2),
    rectangle(3),
    rectangle(1 / 3),
  ]
}

/** Finds faces; best for small faces in groups. Misses faces that fill the image. */
export const ssdMobilenetv1 = {
  id: 'ssd_mobilenetv1',
  version: '2',
  roles: ['detector'],
  artifact: {
    file: 'ssd_mobilenetv1.onnx',
    sha256: '5470cae069c10207ba87e67f18cec549c9546be46d11f01d051df18435b833f7',
  },
  int8: {
    artifact: {
      file: 'ssd_mobilenetv1.int8.onnx',
      sha256: 'c1f8bbccb4e8772257581da76104fd7965b83b21e89b2655e17a8975463051ee',
    },
    ranges: activationRanges(measured.ssd_mobilenetv1.int8.ranges),
    golden: measured.ssd_mobilenetv1.int8.golden,
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
    trainingData: 'WIDER FACE (TUTORIAL.md)',
  },
  measured: [
    {
      what: 'faces found, false detections per picture, with blazeface',
      on: '205 labelled faces',
      value: '201 of 205, 0.03',
      how: 'quoted',
    },
    { what: 'one picture, one thread', on: '512×512', value: '64.8 ms', how: 'quoted' },
  ],
  notFor: 'Faces that fill half of the picture without blazeface: it rarely finds them.',
  input: {
    name: 'input',
    width: 512,
    height: 512,
    colourOrder: 'RGB',
    mean: [127.5, 127.5, 127.5],
    scale: 1 / 127.5,
  },
  outputs: [
    {
      name: 'encodings',
      shape: [5118, 4],
      meaning:
        'for each anchor: centre y, x in tenths of its size; logarithm of height, width in fifths',
    },
    { name: 'logits', shape: [5118], meaning: 'logits of a face, one per anchor' },
  ],
  constants: {
    /**
     * The feature maps with predictions. Anchors are in the centre of each cell, row by row. Shapes:
     * width and height as shares of 512 px.
     */
    layers: [
      {
        stridePx: 16,
        shapes: [
          [0.1, 0.1],
          [0.282843, 0.141421],
          [0.141421, 0.282843],
        ],
      },
      { stridePx: 32, shapes: anchorShapes(0.35, 0.41833) },
      { stridePx: 64, shapes: anchorShapes(0.5, 0.570088) },
      { stridePx: 128, shapes: anchorShapes(0.65, 0.72111) },
      { stridePx: 256, shapes: anchorShapes(0.8, 0.87178) },
      { stridePx: 512, shapes: anchorShapes(0.95, 0.974679) },
    ],
    /** From this IoU on, the box with the lower score is dropped. */
    overlapMax: 0.5,
  },
  golden: measured.ssd_mobilenetv1.golden,
} as const satisfies BuiltinModel
