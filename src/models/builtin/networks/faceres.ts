import type { BuiltinModel } from '../builtin-model.ts'
import { activationRanges } from './activation-ranges.ts'
import measured from './measured-values.json' with { type: 'json' }

/** A second embedding, the age and the gender from one aligned crop. */
export const faceres = {
  id: 'faceres',
  version: '1',
  roles: ['recognizer', 'attributes'],
  artifact: {
    file: 'faceres.onnx',
    sha256: '0cb1fcadc4e87adbc383c838f9d543708d2ce5abda4dd58108c7c98141531c01',
  },
  int8: {
    artifact: {
      file: 'faceres.int8.onnx',
      sha256: '477d1a2ace3ef190fac667279bfc59b9756cce6fa171e1054f74d99307db6f91',
    },
    ranges: activationRanges(measured.faceres.int8.ranges),
    means: 'faceres.means.f16',
    golden: measured.faceres.int8.golden,
  },
  source: {
    package: '@vladmandic/human',
    manifest: {
      path: 'models/faceres.json',
      sha256: '5b83d49c0385d2e68a05122441b94226313677cae9fcc40b9587ad50079eb4df',
    },
    weights: {
      path: 'models/faceres.bin',
      sha256: '2c7d2d62b76c97528b736527aa09d310ea71743c9e3e79fb6c62d4b2d73af79b',
    },
    conversion: {
      from: 'tfjs-graph',
      outputs: {
        age: 'age_pred/Softmax',
        embedding: 'global_pooling/Mean',
        gender: 'gender_pred/Sigmoid',
      },
    },
  },
  provenance: {
    origin:
      'HSE_FaceRec_tf: generatedBy https://github.com/HSE-asavchenko/HSE_FaceRec_tf (models/faceres.json)',
    trainingData: 'not stated',
  },
  measured: [
    {
      what: 'ten-fold accuracy, averaged with the mirrored face, without face_recognition',
      on: 'LFW, 6,000 pairs',
      value: '98.53 ± 0.18 %',
      how: 'quoted',
    },
    {
      what: 'age, mean error, 16 to 70 years',
      on: 'UTKFace, 878 pictures',
      value: '6.4 years',
      how: 'quoted',
    },
    { what: 'sex', on: 'LFW and celebrities, 177 pictures', value: '98.9 %', how: 'quoted' },
    { what: 'one face, one thread', on: '224×224', value: '13.3 ms', how: 'quoted' },
  ],
  notFor: 'Age checks for purchases, entry or content; any use of gender beyond an impression.',
  input: {
    name: 'input_1',
    width: 224,
    height: 224,
    colourOrder: 'BGR',
    mean: [103.939, 116.779, 123.68],
    scale: 1,
  },
  outputs: [
    { name: 'age', shape: [100], meaning: 'probability of each age, 0 to 99 years' },
    { name: 'embedding', shape: [1024], meaning: 'embedding of the face, not normalised' },
    { name: 'gender', shape: [1], meaning: 'probability that the face is male, 0..1' },
  ],
  constants: {
    /** Scale of the ArcFace template about the centre of the crop; the face is aligned to it by five points. */
    templateScale: 0.8,
    dimensions: 1024,
    /** The template scale for age and gender: the face is slightly larger in the crop. */
    attributesTemplateScale: 0.9,
    /**
     * From this probability on the face is reported as male. The network is biased towards "male". This
     * value separates 113 women and 120 men of LFW best: at 0.5, seven women are classified as men;
     * here the only error is one boy that the list labels female (`facegate evaluate attributes`,
     * docs/accuracy.md).
     */
    maleBorder: 0.635,
  },
  golden: measured.faceres.golden,
} as const satisfies BuiltinModel
