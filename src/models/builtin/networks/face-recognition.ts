import type { BuiltinModel } from '../builtin-model.ts'
import { dlibChipPoints } from './chip-template.ts'

/** A descriptor of a face, aligned the way dlib's `get_face_chip` does. */
export const faceRecognition = {
  id: 'face_recognition',
  version: '1',
  roles: ['recognizer'],
  artifact: {
    file: 'face_recognition.onnx',
    sha256: 'c939a55c316b103b55bc7a65898ab2f36bc9d0de5504e6cec81fe4e3c22f5a71',
  },
  source: {
    package: '@vladmandic/face-api',
    manifest: {
      path: 'model/face_recognition_model-weights_manifest.json',
      sha256: 'cbaffa501b0b9275a12b63357a6843e7e30c054e1c9151e1a5f879b26e32986b',
    },
    weights: {
      path: 'model/face_recognition_model.bin',
      sha256: 'b413e420d6840b2775fba32008db6f3cddb07d485967fb42cfcf379c16a8c589',
    },
    conversion: { from: 'face-api', network: 'face_recognition' },
  },
  provenance: {
    origin: "dlib's ResNet, weights trained by davisking (TUTORIAL.md)",
    licence:
      "MIT (LICENSE of @vladmandic/face-api, for the package as a whole; none of the weights' own)",
    trainingData: 'not stated',
  },
  measured: [
    {
      what: 'ten-fold accuracy, mirrored too, alone',
      on: 'LFW, 6,000 pairs',
      value: '99.12 ± 0.14 %',
      how: 'quoted',
    },
    {
      what: 'TAR at FAR 1e-4, 1e-5, alone, mirrored too',
      on: 'LFW, 23.75 million pairs of strangers',
      value: '74.6, 49.4 %',
      how: 'quoted',
    },
    { what: 'one face, one thread', on: '150×150', value: '6.3 ms', how: 'quoted' },
  ],
  notFor:
    'Galleries of more than a few thousand people; deciding about anybody without a person in between.',
  input: {
    name: 'input',
    width: 150,
    height: 150,
    layout: 'NCHW',
    colourOrder: 'RGB',
    mean: [0, 0, 0],
    scale: 1,
  },
  outputs: [
    {
      name: 'descriptor',
      shape: [128],
      meaning: 'the face as a vector, not normalised; compare by Euclidean distance',
    },
  ],
  constants: {
    /** The crop is the template with this share of its side around it. */
    cropPadding: 0.25,
    template: dlibChipPoints,
    dimensions: 128,
  },
  golden: {
    descriptor: {
      samples: [
        -0.0847785, 0.0995176, -0.0319873, -0.283204, -0.0101106, 0.0184116, 0.161784, 0.0349257,
        0.12369, 0.368124, 0.00778554, 0.0166788, 0.0378306, -0.0757726, 0.119504, -0.0146829,
      ],
      meanAbsolute: 0.0883511,
      tolerance: 0.000176702,
    },
  },
} as const satisfies BuiltinModel
