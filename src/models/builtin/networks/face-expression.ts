import type { BuiltinModel } from '../builtin-model.ts'
import measured from './measured-values.json' with { type: 'json' }

/** Seven expressions from a colour crop; the result is averaged with `emotion`. */
export const faceExpression = {
  id: 'face_expression',
  version: '1',
  roles: ['attributes'],
  artifact: {
    file: 'face_expression.onnx',
    sha256: 'c445731f472f3ee03c1a9515ce36757c7e711eb309b8942e8cb2b1861f25e610',
  },
  source: {
    package: '@vladmandic/face-api',
    manifest: {
      path: 'model/face_expression_model-weights_manifest.json',
      sha256: '5b349c17c7836da506e03422cd6461c74085d8bb2713ad4114647dc5d28174c8',
    },
    weights: {
      path: 'model/face_expression_model.bin',
      sha256: '9a9840f2cf1f4c7eab95f197512569345c00d2426754d4608b92af30e0300f3d',
    },
    conversion: { from: 'face-api', network: 'face_expression' },
  },
  provenance: {
    origin: 'a network of face-api (TUTORIAL.md)',
    trainingData: 'public data sets, not named, and images scraped from the web (TUTORIAL.md)',
  },
  measured: [
    {
      what: 'accuracy, without and with averaging with emotion',
      on: 'FER2013, 1,794 pictures (human accuracy: about 65 %)',
      value: '57.4 %; 59.5 %',
      how: 'quoted',
    },
  ],
  notFor: 'Inferring feelings, intentions or character, in particular at work and in education.',
  input: {
    name: 'input',
    width: 112,
    height: 112,
    colourOrder: 'RGB',
    mean: [0, 0, 0],
    scale: 1,
  },
  outputs: [{ name: 'probabilities', shape: [7], meaning: 'probability of each label, sum 1' }],
  constants: {
    cropFactor: 1,
    labels: ['neutral', 'happy', 'sad', 'angry', 'fearful', 'disgusted', 'surprised'],
  },
  golden: measured.face_expression.golden,
} as const satisfies BuiltinModel
