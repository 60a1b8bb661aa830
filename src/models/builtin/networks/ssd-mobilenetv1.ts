import type { BuiltinModel } from '../builtin-model.ts'

/** Finds faces; best for small faces in groups. Misses faces that fill the image. */
export const ssdMobilenetv1 = {
  id: 'ssd_mobilenetv1',
  version: '1',
  roles: ['detector'],
  artifact: {
    file: 'ssd_mobilenetv1.onnx',
    sha256: 'a0c96d418abcb31a148a28e6be55e182a3a541edd186675c873c2da08bb835f3',
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
      'MIT for the whole package (LICENSE of @vladmandic/face-api); no separate licence for the weights',
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
  constants: {
    /** The image is scaled by its long side and placed at the top left; the rest is black. */
    fit: 'letterbox',
    /** From this IoU on, the box with the lower score is dropped. */
    overlapMax: 0.5,
  },
  golden: {
    boxes: {
      samples: [
        -0.00956131, 0.475099, -0.0228219, 0.356255, 0.286976, 0.393307, 0.563505, 0.896768,
        1.02315, 1.04535, 0.688899, 0.141631, 0.446283, 1.06303, 0.710199, 0.8253,
      ],
      meanAbsolute: 0.510969,
      tolerance: 0.00102194,
    },
    scores: {
      samples: [
        0.00693002, 0.000202119, 0.000505418, 0.00139749, 0.00109258, 0.000711203, 0.000968188,
        0.000605643, 0.0017795, 0.00111961, 0.00212258, 0.00419623, 0.00221503, 0.00113377,
        0.00132018, 0.0184779,
      ],
      meanAbsolute: 0.00215167,
      tolerance: 0.00000430334,
    },
  },
} as const satisfies BuiltinModel
