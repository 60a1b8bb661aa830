import type { ModelEntry } from '../manifest.ts'
import { chipTemplate } from './chip-template.ts'

/** A descriptor of a face, aligned the way dlib's `get_face_chip` does. */
export const faceRecognition = {
  id: 'face_recognition',
  version: '1',
  roles: ['recognizer'],
  product: {
    file: 'face_recognition.onnx',
    sha256: '',
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
  recipe: {
    /** The crop is the template with this share of its side around it. */
    cropPadding: 0.25,
    template: chipTemplate,
    dimensions: 128,
  },
  golden: {},
} as const satisfies ModelEntry
