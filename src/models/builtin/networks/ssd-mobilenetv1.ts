import type { BuiltinModel } from '../builtin-model.ts'

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
    ranges: {
      Clip_13: [0, 6],
      Clip_15: [0, 6],
      Clip_17: [0, 6],
      Clip_19: [0, 6],
      Clip_21: [0, 6],
      Clip_23: [0, 6],
      Clip_25: [0, 6],
      Clip_27: [0, 6],
      Clip_29: [0, 6],
      Clip_31: [0, 6],
      Clip_33: [0, 6],
      Clip_35: [0, 6],
      Clip_37: [0, 6],
      Clip_39: [0, 6],
      Clip_41: [0, 6],
      Clip_43: [0, 6],
      Clip_45: [0, 6],
      Clip_47: [0, 6],
      Clip_49: [0, 6],
      Clip_51: [0, 6],
      Clip_53: [0, 6],
      Clip_55: [0, 4.767],
      Clip_57: [0, 6],
      Clip_59: [0, 2.934],
      Clip_61: [0, 6],
      Clip_63: [0, 3.926],
      Clip_65: [0, 6],
      Clip_67: [0, 4.107],
      Clip_69: [0, 6],
    },
    golden: {
      encodings: {
        samples: [
          -0.214493, 0.248031, 0.0049466, -6.2827, 0.244852, 0.576235, -0.684873, 1.99908,
          -0.341339, -2.04454, 0.715707, 0.693336, 0.503293, 0.639612, 0.921754, 0.223135,
        ],
        meanAbsolute: 1.29011,
        tolerance: 0.129011,
      },
      logits: {
        samples: [
          -5.04746, -8.85325, -7.96444, -6.63077, -6.93125, -7.51227, -6.822, -7.57706, -6.21887,
          -6.8076, -6.42608, -5.6497, -6.14821, -6.54871, -6.56427, -4.06976,
        ],
        meanAbsolute: 6.74589,
        tolerance: 0.674589,
      },
    },
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
  golden: {
    encodings: {
      samples: [
        -0.170794, 0.260675, 0.0090571, -6.35896, 0.195991, 0.509937, -0.840308, 1.8837, -0.438686,
        -2.0878, 0.886522, 0.699445, 0.609925, 0.682987, 0.789645, 0.0695766,
      ],
      meanAbsolute: 1.30433,
      tolerance: 0.00260866,
    },
    logits: {
      samples: [
        -4.96494, -8.50627, -7.58964, -6.5717, -6.81811, -7.24786, -6.9391, -7.40863, -6.32964,
        -6.79364, -6.15297, -5.46936, -6.11027, -6.78109, -6.62861, -3.97253,
      ],
      meanAbsolute: 6.68929,
      tolerance: 0.0133786,
    },
  },
} as const satisfies BuiltinModel
