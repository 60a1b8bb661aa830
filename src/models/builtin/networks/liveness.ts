import type { BuiltinModel } from '../builtin-model.ts'
import measured from './measured-values.json' with { type: 'json' }

/** Whether a face is live or shown on paper or a screen: a weak signal, never sufficient on its own. */
export const liveness = {
  id: 'liveness',
  version: '1',
  roles: ['liveness'],
  artifact: {
    file: 'liveness.onnx',
    sha256: 'f69ae542b8d4c451976198d4fa0eb4d29110714f2b5b16b32c553de30cf54647',
  },
  source: {
    package: '@vladmandic/human',
    manifest: {
      path: 'models/liveness.json',
      sha256: '9e51c8acf83b80abbf329b2735309ab5c90611c66905ade8b1bd130d473df9c8',
    },
    weights: {
      path: 'models/liveness.bin',
      sha256: 'fc6a6b6b3b9721bdb8bff67a457a15b7cbfd81715cfb27f3e65b757e81dd663e',
    },
    conversion: { from: 'tfjs-graph', outputs: { probabilities: 'Identity' } },
  },
  provenance: {
    origin: 'livenessnet: generatedBy https://github.com/leokwu/livenessnet (models/liveness.json)',
    trainingData: 'not stated',
  },
  measured: [
    {
      what: 'EER of six crops; live people reported as live',
      on: 'NUAA (prints of 2010), 630 live and 630 print images',
      value: '0.41; 0 of 630',
      how: 'held out',
    },
    {
      what: 'APCER at BPCER 5 %, six crops',
      on: 'the same pictures',
      value: '88 %',
      how: 'held out',
    },
  ],
  notFor:
    'Access control of any kind: when it rejects one live face in twenty, it misses nearly nine of ten prints.',
  input: {
    name: 'conv2d_1_input',
    width: 32,
    height: 32,
    colourOrder: 'RGB',
    mean: [0, 0, 0],
    scale: 1 / 255,
  },
  outputs: [
    { name: 'probabilities', shape: [2], meaning: 'probabilities of live and not live, sum 1' },
  ],
  constants: {
    /**
     * Square crops about the centre of the face, `cropFactor` times its longer side, and the weight of
     * the log-odds of "live" of each crop in the sum: fitted by eval/fit-liveness.ts.
     */
    crops: [
      { cropFactor: 0.8, weight: 0.226 },
      { cropFactor: 1, weight: 0.177 },
      { cropFactor: 1.2, weight: 0.098 },
      { cropFactor: 1.4, weight: 0.076 },
      { cropFactor: 1.7, weight: 0.151 },
      { cropFactor: 2, weight: 0.065 },
    ],
    bias: -2.702,
    /** A face is live from `liveMin` on and a spoof below `spoofMax`; see docs/liveness.md. */
    liveMin: 0.9,
    spoofMax: 0.08,
    /** The minimum ratio of image size to face size, in width and in height. */
    contextMin: 1.5,
  },
  golden: measured.liveness.golden,
} as const satisfies BuiltinModel
