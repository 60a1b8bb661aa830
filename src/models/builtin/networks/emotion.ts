import type { BuiltinModel } from '../builtin-model.ts'
import measured from './measured-values.json' with { type: 'json' }

/** Seven expressions from a grey crop; the result is averaged with `faceExpression`. */
export const emotion = {
  id: 'emotion',
  version: '1',
  roles: ['attributes'],
  artifact: {
    file: 'emotion.onnx',
    sha256: 'cca3fc8d3903851473220304afda3d0e1520e71657a360c75290db2761b1b8c4',
  },
  source: {
    package: '@vladmandic/human',
    manifest: {
      path: 'models/emotion.json',
      sha256: '56f7e557eb0c863a8b9ab04ac7ccba756e93bf2c27dce135ef0e8712b80b7ad2',
    },
    weights: {
      path: 'models/emotion.bin',
      sha256: '927ac8224f356ab1e68c2bcfbfa07b0c8567047d1bcf817388ba6e38214c4987',
    },
    conversion: { from: 'tfjs-graph', outputs: { probabilities: 'Identity' } },
  },
  provenance: {
    origin:
      'oarriaga/face_classification: generatedBy https://github.com/oarriaga/face_classification (models/emotion.json)',
    trainingData: 'not stated',
  },
  measured: [
    {
      what: 'accuracy, without and with averaging with face_expression',
      on: 'FER2013, 1,794 pictures (human accuracy: about 65 %)',
      value: '56.2 %; 59.5 %',
      how: 'quoted',
    },
  ],
  notFor: 'Inferring feelings, intentions or character, in particular at work and in education.',
  input: {
    name: 'input_1',
    width: 64,
    height: 64,
    colourOrder: 'grey',
    mean: [127.5],
    scale: 1 / 127.5,
  },
  outputs: [{ name: 'probabilities', shape: [7], meaning: 'probability of each label, sum 1' }],
  constants: {
    cropFactor: 1,
    labels: ['angry', 'disgusted', 'fearful', 'happy', 'sad', 'surprised', 'neutral'],
  },
  golden: measured.emotion.golden,
} as const satisfies BuiltinModel
